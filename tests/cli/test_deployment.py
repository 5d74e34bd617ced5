"""The files for clusters do what they say, as far as one machine can tell."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from support.command_line import labelworth

DEPLOYMENT = Path(__file__).parents[2] / "docs" / "deployment"

# Two tasks where SLURM would start sixteen; ended together, as SLURM does.
SRUN = """#!/bin/sh
trap 'kill $(jobs -p)' TERM
"$@" &
"$@" &
wait
"""


def write_mail(path: Path) -> None:
    texts = {"ham": "lunch meeting report", "spam": "free money offer"}
    rows: list[dict[str, str | None]] = [
        {"text": f"{texts[label]} hello{number % 7} {texts['ham'] if number % 5 == 0 else ''}", "label": label}
        for number, label in enumerate(["ham", "spam"] * 60)
    ]
    for row in rows[40:]:
        row["label"] = None
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))


@pytest.mark.skipif(sys.platform == "win32", reason="a script for SLURM")
def test_the_script_for_slurm_fits_as_one_machine_does(tmp_path: Path) -> None:
    pytest.importorskip("distributed")
    write_mail(tmp_path / "mail.jsonl")
    sharded = labelworth("shard", tmp_path / "mail.jsonl", "-o", tmp_path / "shards", "--shard-values", 1000)
    assert sharded.code == 0, sharded.stderr
    here = labelworth("fit", tmp_path / "shards", "-o", tmp_path / "here.lw", "--smoothing", 0.1, "--json").record
    (tmp_path / "srun").write_text(SRUN)
    (tmp_path / "srun").chmod(0o755)
    path = os.pathsep.join([str(tmp_path), str(Path(sys.executable).parent), os.environ["PATH"]])
    done = subprocess.run(
        ["bash", DEPLOYMENT / "slurm.sh", "shards", tmp_path / "there.lw", "--smoothing", "0.1", "--json"],
        cwd=tmp_path,
        env={**os.environ, "PATH": path},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    there = json.loads(done.stdout)
    assert there["objective"] == here["objective"]
    assert not list(tmp_path.glob(".labelworth-cluster*"))


@pytest.mark.skipif(sys.platform == "win32", reason="a script for SLURM")
def test_the_script_for_slurm_does_not_wait_for_a_scheduler_that_cannot_start(tmp_path: Path) -> None:
    for name in ("dask", "srun"):
        (tmp_path / name).write_text("#!/bin/sh\necho no such thing >&2\nexit 1\n")
        (tmp_path / name).chmod(0o755)
    path = os.pathsep.join([str(tmp_path), str(Path(sys.executable).parent), os.environ["PATH"]])
    done = subprocess.run(
        ["bash", DEPLOYMENT / "slurm.sh", "shards", tmp_path / "there.lw"],
        env={**os.environ, "PATH": path},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode != 0
    assert "no such thing" in done.stderr
    assert not list(tmp_path.glob(".labelworth-cluster*"))


@pytest.fixture
def objects() -> dict[tuple[str, str], Any]:
    yaml = pytest.importorskip("yaml")
    read = yaml.safe_load_all((DEPLOYMENT / "kubernetes.yaml").read_text())
    return {(one["kind"], one["metadata"]["name"]): one for one in read}


def pods(objects: dict[tuple[str, str], Any]) -> dict[str, Any]:
    made = [one for one in objects.values() if one["kind"] in ("Deployment", "Job")]
    return {one["spec"]["template"]["metadata"]["labels"]["part"]: one["spec"]["template"] for one in made}


def test_the_objects_for_kubernetes_name_each_other(objects: dict[tuple[str, str], Any]) -> None:
    for one in objects.values():
        if one["kind"] == "Deployment":
            assert one["spec"]["selector"]["matchLabels"] == one["spec"]["template"]["metadata"]["labels"]
    service = objects["Service", "labelworth-scheduler"]["spec"]
    assert service["selector"] == pods(objects)["scheduler"]["metadata"]["labels"]
    (port,) = service["ports"]
    (scheduler,) = pods(objects)["scheduler"]["spec"]["containers"]
    assert {"containerPort": port["targetPort"]} in scheduler["ports"]
    address = f"tcp://labelworth-scheduler:{port['port']}"
    for part in ("worker", "fit"):
        (container,) = pods(objects)[part]["spec"]["containers"]
        assert address in container["command"]
        # All see the folder under the same path.
        assert container["volumeMounts"] == [{"name": "shared", "mountPath": "/shared"}]
        assert pods(objects)[part]["spec"]["volumes"][0]["name"] == "shared"


def test_the_commands_for_kubernetes_exist(objects: dict[tuple[str, str], Any]) -> None:
    pytest.importorskip("distributed")
    for pod in pods(objects).values():
        (container,) = pod["spec"]["containers"]
        program, command, *given = container["command"]
        told = subprocess.run(
            [Path(sys.executable).parent / program, command, "--help"], capture_output=True, text=True, check=True
        ).stdout
        assert all(word in told for word in given if word.startswith("--"))
