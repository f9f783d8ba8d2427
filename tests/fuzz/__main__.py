"""``python -m tests.fuzz``: runs targets for a bounded time each, or one again on a kept input."""

from __future__ import annotations

import argparse
import contextlib
import importlib.util
import os
import random
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from tests.fuzz.targets import TARGETS

if TYPE_CHECKING:
    from tests.fuzz.target import Target

_FOLDER = Path(__file__).resolve().parents[2] / "build" / "fuzz"
_MEMORY_MIB = 1024
_HANG_SECONDS = 20
_GRACE_SECONDS = 60
_RUNS = re.compile(r"stat::number_of_executed_units: (\d+)")


class Ran(NamedTuple):
    """A line of the table."""

    target: str
    engine: str
    seconds: float
    executions: int
    finds: list[Path]


def main() -> int:
    """Do what the arguments say; 1 when something was found."""
    arguments = _arguments()
    if arguments.replay:
        target = TARGETS[arguments.targets[0]]
        target.check(Path(arguments.replay).read_bytes())
        print(f"{target.name}: the laws hold")
        return 0
    ran = []
    for name in arguments.targets or TARGETS:
        ran.append(_run(TARGETS[name], arguments))
        print(_line(ran[-1]), flush=True)
    return 1 if any(one.finds for one in ran) else 0


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("targets", nargs="*", metavar="TARGET", help=", ".join(TARGETS))
    parser.add_argument("--seconds", type=float, default=60, help="for each target; default: 60")
    parser.add_argument(
        "--engine", choices=["atheris", "hypothesis"], help="default: atheris if there"
    )
    parser.add_argument("--seed", type=int, default=random.randrange(2**31), help="as printed")
    parser.add_argument(
        "--folder", type=Path, default=_FOLDER, help="for finds; default: build/fuzz"
    )
    parser.add_argument("--replay", metavar="FILE", help="check this input with the one TARGET")
    arguments = parser.parse_args()
    for name in arguments.targets:
        if name not in TARGETS:
            parser.error(f"no target {name}; there are {', '.join(TARGETS)}")
    if arguments.replay and len(arguments.targets) != 1:
        parser.error("--replay takes one TARGET")
    has_atheris = importlib.util.find_spec("atheris") is not None
    if arguments.engine == "atheris" and not has_atheris:
        parser.error("atheris is not installed: pip install --group fuzz")
    if arguments.engine is None:
        arguments.engine = "atheris" if has_atheris else "hypothesis"
    return arguments


def _run(target: Target, arguments: argparse.Namespace) -> Ran:
    folder: Path = arguments.folder / target.name
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    print(f"{target.name}: {arguments.engine}, seed {arguments.seed}", flush=True)
    began = time.monotonic()
    if arguments.engine == "atheris":
        executions = _under_atheris(target, folder, arguments)
    else:
        from tests.fuzz import under_hypothesis

        executions = under_hypothesis.run(
            target, folder / "finds", arguments.seconds, arguments.seed
        )
    finds = [path for path in sorted((folder / "finds").glob("*")) if path.suffix != ".txt"]
    return Ran(target.name, arguments.engine, time.monotonic() - began, executions, finds)


def _under_atheris(target: Target, folder: Path, arguments: argparse.Namespace) -> int:
    corpus, seeds, finds = folder / "corpus", folder / "seeds", folder / "finds"
    for made in (corpus, seeds, finds):
        made.mkdir()
    for number, seed in enumerate(target.seeds()):
        (seeds / f"{number:04}").write_bytes(seed[: target.longest])
    command = [
        sys.executable, "-m", "tests.fuzz.under_atheris", target.name, str(finds),
        f"-max_total_time={int(arguments.seconds)}", f"-seed={arguments.seed or 1}",
        f"-max_len={target.longest}", f"-rss_limit_mb={_MEMORY_MIB}", f"-timeout={_HANG_SECONDS}",
        f"-artifact_prefix={finds}/", "-print_final_stats=1", "-verbosity=0",
        str(corpus), str(seeds),
    ]  # fmt: skip
    log = folder / "atheris.log"
    with log.open("wb") as output, contextlib.suppress(subprocess.TimeoutExpired):
        subprocess.run(
            command,
            stdout=output,
            stderr=output,
            timeout=arguments.seconds + _GRACE_SECONDS,
            check=False,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        )
    runs = _RUNS.findall(log.read_text(errors="replace"))
    return int(runs[-1]) if runs else 0


def _line(ran: Ran) -> str:
    line = (
        f"{ran.target}: {ran.engine}, {ran.seconds:.0f} s, {ran.executions} executions, "
        f"{len(ran.finds)} finds"
    )
    return "\n".join([line, *(f"  {path}" for path in ran.finds)])


if __name__ == "__main__":
    sys.exit(main())
