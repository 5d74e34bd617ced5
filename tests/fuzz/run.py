"""Gives damaged files to the command line: `python tests/fuzz/run.py --count 2000 [DOOR ...]`.

Every file must be answered with exit code 0, 1 or 2 and, where it is not 0, with a sentence; within 20 seconds of
processor time and 2 GB. What is not is kept in --keep and named at the end.
"""

import argparse
import faulthandler
import resource
import signal
import sys
import tempfile
import traceback
import warnings
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from random import Random
from types import FrameType

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parents[1]))

from fuzz.doors import DOORS, Door
from support.command_line import labelworth
from support.kept_figures import keep

SECONDS = 20
MOST_BYTES = 2 << 30


class HangError(BaseException):
    """Nobody catches it but us."""


def problem_with(door: Door, content: bytes, folder: Path) -> str | None:
    """What is wrong with the answer to a file; None if it is as it should be."""
    path = folder / f"data{door.ending}"
    path.write_bytes(content)

    def stop(number: int, frame: FrameType | None) -> None:
        raise HangError

    before = signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, SECONDS)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            answer = labelworth(*door.command(path, folder))
    except (Exception, HangError) as error:
        own = [frame for frame in traceback.extract_tb(error.__traceback__) if "labelworth" in frame.filename]
        where = f"{Path(own[-1].filename).name}:{own[-1].lineno}" if own else "?"
        return f"{type(error).__name__} at {where}: {str(error)[:80]}"
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)
    if answer.code not in (0, 1, 2):
        return f"exit code {answer.code}"
    return "no sentence" if answer.code and not (answer.stderr + answer.stdout).strip() else None


def limit_memory() -> None:
    """Let this process take 2 GB more than it has: what earlier files left behind is not the fault of the next."""
    in_use = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (in_use + MOST_BYTES, resource.RLIM_INFINITY))


def fuzz(
    name: str, seeds: range, keep: Path | None = None, before_each: Callable[[], None] = lambda: None
) -> Counter[str]:
    """The problems met at a door, and how often."""
    problems: Counter[str] = Counter()
    for seed in seeds:
        before_each()
        content = DOORS[name].make(Random(f"{name} {seed}"))
        with tempfile.TemporaryDirectory() as folder:
            problem = problem_with(DOORS[name], content, Path(folder))
        if problem is not None:
            problems[problem] += 1
            if keep is not None and problems[problem] == 1:
                (keep / f"{name}-{seed}{DOORS[name].ending}").write_bytes(content)
    return problems


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("doors", nargs="*", default=list(DOORS), help=f"of {', '.join(DOORS)}; all when absent")
    parser.add_argument("--count", type=int, default=2000, help="files per door")
    parser.add_argument("--first", type=int, default=0, help="the first seed")
    parser.add_argument("--keep", type=Path, help="a folder for the files that were answered badly")
    parser.add_argument("--record", action="store_true", help="write the counts to results/")
    arguments = parser.parse_args()
    if arguments.keep:
        arguments.keep.mkdir(parents=True, exist_ok=True)
    n_problems = 0
    for name in arguments.doors:
        faulthandler.dump_traceback_later(3600, exit=True)
        problems = fuzz(name, range(arguments.first, arguments.first + arguments.count), arguments.keep, limit_memory)
        n_problems += sum(problems.values())
        sys.stdout.write(f"{name}: {arguments.count:,} files, {sum(problems.values())} answered badly\n")
        for problem, count in problems.most_common():
            sys.stdout.write(f"  {count} x {problem}\n")
        sys.stdout.flush()
        if arguments.record:
            found = {"n_inputs": arguments.count, "answered_badly": sum(problems.values())}
            limits = {"seconds_at_most": SECONDS, "bytes_at_most": MOST_BYTES}
            keep("fuzz", name, {**found, **limits}, packages=("numpy", "pyarrow"))
    return 1 if n_problems else 0


if __name__ == "__main__":
    sys.exit(main())
