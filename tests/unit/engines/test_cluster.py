"""A cluster of real processes on this machine: workers are killed and hang, and no bit changes."""

import os
import random
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

from labelworth.data.evidence import Evidence
from labelworth.data.samples import Samples
from labelworth.data.shards.folder import Shards
from labelworth.engines.runner import Sums, Threads, added, runner_of, working
from labelworth.errors import InvalidInputError, LabelworthError
from labelworth.estimation.fit import fit
from labelworth.estimators.pools.documents import ClassLearner
from labelworth.models.classes.multinomial import MultinomialFamily
from labelworth.robust.held_out import held_out_predictions
from labelworth.simulation.simulator import CurveDesign, LabelSource, simulate
from unit.engines.conftest import of_a_cluster

dask, distributed = pytest.importorskip("dask"), pytest.importorskip("distributed")
pytestmark = of_a_cluster


@pytest.fixture(scope="module")
def client() -> Iterator[Any]:
    with (
        distributed.LocalCluster(
            n_workers=2,
            threads_per_worker=1,
            processes=True,
            host="127.0.0.1",
            dashboard_address=None,
            silence_logs=50,
        ) as cluster,
        distributed.Client(cluster) as connected,
    ):
        yield connected


def documents(n_samples: int = 400) -> Samples:
    rng = np.random.default_rng(0)
    words = rng.dirichlet(np.full(30, 0.3), size=3)
    truth = rng.integers(0, 3, size=n_samples)
    counts = np.array([rng.multinomial(9, words[label]) for label in truth], dtype=np.float64)
    codes = np.where(rng.random(n_samples) < 0.1, truth, -1)
    return Samples(sp.csr_array(counts), Evidence(codes, ("a", "b", "c")))


def bits(fitted: Any) -> tuple[bytes, ...]:
    return (fitted.objective_path.tobytes(), *(table.tobytes() for table in fitted.model.tables.values()))


def slow(folder: str, number: int) -> Sums:
    """Says in a file who is at work, so that it can be killed."""
    (Path(folder) / str(os.getpid())).touch()
    time.sleep(0.05)
    return {"values": np.random.default_rng(number).normal(size=3)}


def hanging_once(folder: str, number: int) -> Sums:
    mark = Path(folder) / f"hung {number}"
    if number == 2 and not mark.exists():
        mark.touch()
        time.sleep(3600)
    return {"values": np.random.default_rng(number).normal(size=3)}


def standing_still_once(folder: str, number: int) -> Sums:
    """Stops its process, so that it answers nobody."""
    mark = Path(folder) / "stopped"
    if number == 2 and not mark.exists():
        mark.write_text(str(os.getpid()))
        os.kill(os.getpid(), signal.SIGSTOP)
    return {"values": np.random.default_rng(number).normal(size=3)}


def refusing(folder: str, number: int) -> Sums:
    raise InvalidInputError(f"piece {number} is damaged")


def test_a_client_gives_the_bits_of_one_thread(client: Any, tmp_path: Path) -> None:
    expected = Threads(1).total(slow, str(tmp_path), range(11))
    runner = runner_of(client)
    assert runner.total(slow, str(tmp_path), range(11))["values"].tobytes() == expected["values"].tobytes()
    order = [result["values"][0] for result in runner.map(slow, str(tmp_path), range(20))]
    assert order == [np.random.default_rng(number).normal(size=3)[0] for number in range(20)]


def test_a_fit_on_a_cluster_is_the_fit_of_one_thread(client: Any, tmp_path: Path) -> None:
    Shards.write(tmp_path, documents(), stored_per_shard=300)
    family = MultinomialFamily.for_samples(documents(), smoothing=0.1)
    expected = fit(family, Shards.open(tmp_path, workers=1).data)
    assert bits(fit(family, Shards.open(tmp_path, engine=client).data)) == bits(expected)


def test_what_a_piece_refuses_is_told(client: Any) -> None:
    with pytest.raises(InvalidInputError, match="piece 0 is damaged"):
        runner_of(client).total(refusing, "", range(1))


def kill_now_and_then(folder: Path, n_kills: int, killed: list[int], over: threading.Event) -> None:
    """SIGKILL processes that were seen at work, at random moments."""
    chance = random.Random(0)
    while len(killed) < n_kills and not over.is_set():
        time.sleep(chance.uniform(0.1, 0.6))
        for path in sorted(folder.iterdir()):
            path.unlink(missing_ok=True)
            try:
                os.kill(int(path.name), signal.SIGKILL)
            except ProcessLookupError:
                continue
            killed.append(int(path.name))
            break


def test_killed_workers_cost_time_and_no_bit(client: Any, tmp_path: Path) -> None:
    killed: list[int] = []
    over = threading.Event()
    killer = threading.Thread(target=kill_now_and_then, args=(tmp_path, 3, killed, over))
    killer.start()
    totals = [runner_of(client).total(slow, str(tmp_path), range(40)) for _ in range(3)]
    over.set()
    killer.join()
    assert killed
    assert {total["values"].tobytes() for total in totals} == {added_here(40)}


def added_here(count: int) -> bytes:
    results = ({"values": np.random.default_rng(number).normal(size=3)} for number in range(count))
    return added(results)["values"].tobytes()


def test_a_worker_that_hangs_is_started_anew(client: Any, tmp_path: Path) -> None:
    from labelworth.engines.cluster import Cluster

    total = Cluster(client, patience=2.0).total(hanging_once, str(tmp_path), range(6))
    assert total["values"].tobytes() == added_here(6)
    assert (tmp_path / "hung 2").exists()


def test_nobody_at_an_address_is_told() -> None:
    from labelworth.engines.cluster import connected

    impatient = dask.config.set({"distributed.comm.timeouts.connect": "1s"})
    with impatient, pytest.raises(LabelworthError, match="No scheduler of Dask answers"):
        connected("tcp://127.0.0.1:1")


def test_an_address_that_wants_certificates_says_where_they_are_named() -> None:
    from labelworth.engines.cluster import connected

    with pytest.raises(LabelworthError, match=r"'tls://127\.0\.0\.1:1' wants certificates.*tls\.ca-file"):
        connected("tls://127.0.0.1:1")


def test_a_cluster_is_not_told_how_many_workers_it_has(client: Any) -> None:
    with pytest.raises(InvalidInputError, match="workers of its own"):
        runner_of(client, 3)


def test_a_worker_that_stands_still_is_started_anew(client: Any, tmp_path: Path) -> None:
    from labelworth.engines.cluster import Cluster

    total = Cluster(client, patience=3.0).total(standing_still_once, str(tmp_path), range(12))
    assert total["values"].tobytes() == added_here(12)
    assert int((tmp_path / "stopped").read_text()) not in client.run(os.getpid).values()


def test_a_connection_that_was_lost_is_made_again(client: Any, tmp_path: Path) -> None:
    cutter = threading.Timer(0.3, lambda: client.loop.add_callback(client.scheduler_comm.comm.abort))
    cutter.start()
    total = runner_of(client).total(slow, str(tmp_path), range(40))
    cutter.join()
    assert total["values"].tobytes() == added_here(40)


def test_a_client_that_its_scheduler_has_struck_off_is_replaced(client: Any, tmp_path: Path) -> None:
    with distributed.Client(client.scheduler.address, set_as_default=False) as forgotten:
        name = forgotten.id

        def strike_off(dask_scheduler: Any) -> None:
            dask_scheduler.struck_off = dask_scheduler.client_comms.pop(name)

        def put_back(dask_scheduler: Any) -> None:
            dask_scheduler.client_comms[name] = dask_scheduler.struck_off

        client.run_on_scheduler(strike_off)
        total = runner_of(forgotten).total(slow, str(tmp_path), range(5))
        client.run_on_scheduler(put_back)
    assert total["values"].tobytes() == added_here(5)


def test_what_many_refits_share_travels_once(client: Any) -> None:
    from labelworth.engines.cluster import Cluster

    runner, shared = Cluster(client), Large()
    results = [next(iter(runner.map(seen_by, shared, [number]))) for number in range(6)]
    # Pickled to be sent, and once more at most where dask looks at its size.
    assert [number for number, _ in results] == list(range(6))
    assert Large.n_pickled <= 2


class Large:
    n_pickled = 0

    def __reduce__(self) -> Any:
        Large.n_pickled += 1
        return (Large, ())


def seen_by(shared: Large, number: int) -> tuple[int, int]:
    return number, os.getpid()


def test_refits_on_a_cluster_are_those_of_one_thread(client: Any) -> None:
    def curves() -> bytes:
        data = documents(300).hide()
        learner = ClassLearner(MultinomialFamily.for_samples(data, smoothing=0.1), 1.0, 1.0)
        source = LabelSource(learner.predict(learner.fit(documents(300)), data), 1.0)
        design, sizes = CurveDesign("semi-supervised"), np.array([20, 60])
        told = simulate(learner, data, {"own": source}, [design], sizes, n_replicates=3, seed=1)["own"]
        return told[0].errors.tobytes() + told[0].log_losses.tobytes()

    with working(client):
        elsewhere = curves()
    assert elsewhere == curves()


def test_cross_validation_on_a_cluster_is_that_of_one_thread(client: Any) -> None:
    data = documents(300)
    family = MultinomialFamily.for_samples(data, smoothing=0.1)

    def losses() -> bytes:
        told = held_out_predictions(family, data, [0.0, 1.0], n_folds=3, rng=np.random.default_rng(0))
        return told.log_posteriors.tobytes()

    with working(client):
        elsewhere = losses()
    assert elsewhere == losses()


def test_cross_validation_of_shards_on_a_cluster_is_that_of_one_thread(client: Any, tmp_path: Path) -> None:
    Shards.write(tmp_path, documents(300), stored_per_shard=300)
    family = MultinomialFamily.for_samples(documents(300), smoothing=0.1)

    def losses(**who: Any) -> bytes:
        data: Any = Shards.open(tmp_path, **who).data
        told = held_out_predictions(family, data, [0.0, 1.0], n_folds=3, rng=np.random.default_rng(0))
        return told.log_posteriors.tobytes()

    with working(client):
        elsewhere = losses(engine=client)
    assert elsewhere == losses(workers=1)


@pytest.fixture
def strange(tmp_path: Path) -> Iterator[Any]:
    """A client of a scheduler to which a worker comes whose labelworth is what the test writes in a folder."""
    with (
        distributed.LocalCluster(
            n_workers=0, processes=True, host="127.0.0.1", dashboard_address=None, silence_logs=50
        ) as cluster,
        distributed.Client(cluster) as connected,
    ):
        address = connected.scheduler.address
        words = [sys.executable, "-m", "distributed.cli.dask_worker", address, "--nthreads", "1", "--no-dashboard"]
        environment = {**os.environ, "PYTHONPATH": str(tmp_path), "DASK_TEMPORARY_DIRECTORY": str(tmp_path / "dask")}
        worker = subprocess.Popen(
            [*words, "--no-nanny", "--host", "127.0.0.1"], env=environment, stderr=subprocess.DEVNULL
        )
        try:
            yield connected
        finally:
            worker.kill()
            worker.wait()


@pytest.mark.parametrize(
    ("content", "held"),
    [
        ("__version__ = '0.0.9'", "has labelworth 0.0.9, where this is labelworth"),
        ("raise ModuleNotFoundError('not here')", "has none that can be imported"),
    ],
)
def test_a_worker_with_another_labelworth_is_refused(content: str, held: str, strange: Any, tmp_path: Path) -> None:
    (tmp_path / "labelworth.py").write_text(content)
    strange.wait_for_workers(1, timeout=60)
    (name,) = strange.nthreads()
    with pytest.raises(LabelworthError, match=f"The worker {name} {held}"):
        runner_of(strange).total(np.add, 1.0, [2.0])


def test_a_worker_with_another_labelworth_that_comes_later_is_refused(strange: Any, tmp_path: Path) -> None:
    (tmp_path / "labelworth.py").write_text("__version__ = '0.0.9'")
    with pytest.raises(LabelworthError, match=r"has labelworth 0\.0\.9"):
        # Nobody is there yet.
        runner_of(strange).total(np.add, 1.0, [2.0])


def test_a_cluster_without_workers_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    from labelworth.engines import cluster
    from labelworth.engines.cluster import Cluster

    monkeypatch.setattr(cluster, "_STARTING", 1.5)
    nobody = distributed.LocalCluster(
        n_workers=0, processes=True, host="127.0.0.1", dashboard_address=None, silence_logs=50
    )
    with nobody, distributed.Client(nobody) as alone, pytest.raises(LabelworthError, match="has no worker"):
        Cluster(alone, patience=1.5).total(refusing, "", range(2))


def test_a_cluster_that_starts_workers_by_need_is_woken(tmp_path: Path) -> None:
    with (
        distributed.LocalCluster(
            n_workers=0, threads_per_worker=1, host="127.0.0.1", dashboard_address=None, silence_logs=50
        ) as cluster,
        distributed.Client(cluster, set_as_default=False) as connected,
    ):
        cluster.adapt(minimum=0, maximum=1)
        total = runner_of(connected).total(slow, str(tmp_path), range(3))
    assert total["values"].tobytes() == added_here(3)
