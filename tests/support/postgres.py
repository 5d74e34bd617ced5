"""A PostgreSQL of its own: a cluster in a temporary folder, reached by a socket in it and by nothing else."""

import getpass
import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_FOLDERS = ("/usr/lib/postgresql", "/usr/local/pgsql", "/opt/homebrew/opt")


def programs() -> Path | None:
    """The folder of initdb and pg_ctl, newest version first."""
    found = shutil.which("pg_ctl")
    if found is not None and (Path(found).parent / "initdb").exists():
        return Path(found).parent
    folders = [path.parent for root in _FOLDERS for path in Path(root).glob("*/bin/initdb")]
    return max(folders, key=lambda path: [int(part) for part in path.parts if part.isdigit()], default=None)


def version() -> str:
    """Of the one that `server` starts."""
    folder = programs()
    if folder is None:
        return "none"
    told = subprocess.run([folder / "postgres", "--version"], check=True, capture_output=True, text=True).stdout
    return told.split()[2]


@contextmanager
def server() -> Iterator[str]:
    """Start one; the URL by which it is reached. It is gone at the end."""
    folder = programs()
    if folder is None:
        raise FileNotFoundError("PostgreSQL is not installed")
    # It refuses to run as root.
    user = "postgres" if os.geteuid() == 0 else getpass.getuser()
    as_user = {"user": user} if os.geteuid() == 0 else {}
    with tempfile.TemporaryDirectory(prefix="lw-postgres-") as root:
        place = Path(root)
        if as_user:
            shutil.chown(place, user)
        data = place / "data"

        def run(program: str, *words: str) -> None:
            subprocess.run(
                [folder / program, *words], check=True, stdout=subprocess.DEVNULL, cwd=place, env={}, **as_user
            )

        run("initdb", "-D", str(data), "-U", user, "--auth=trust", "--encoding=UTF8", "--locale=C", "--no-sync")
        # Programs are killed in the tests, not the machine: what the server has written outlives them.
        listen = f"-c fsync=off -c listen_addresses='' -c unix_socket_directories={place} -c max_connections=200"
        log = str(place / "log")
        run("pg_ctl", "-D", str(data), "-w", "-l", log, "-o", listen, "start")
        try:
            yield f"postgresql://{user}@/postgres?host={place}"
        finally:
            run("pg_ctl", "-D", str(data), "-w", "-m", "immediate", "stop")
