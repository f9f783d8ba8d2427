"""``python -m tests.bench``: chooses what to measure, and prints the one table.

No figure is taken here. It always ends with 0, whatever the figures are.
"""

import argparse
import os
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from tests.bench import (
    compaction,
    logsize,
    memory,
    queries,
    recorder,
    roundtrip,
    startup,
    states,
    stream,
)
from tests.bench.report import Row, machine, table
from tests.bench.routes import CONSOLE_SCRIPT, ROUTES, BenchError, Settings, end_recorders

BENCHMARKS: dict[str, Callable[[Settings], Iterator[Row]]] = {
    "roundtrip": roundtrip.measure,
    "stream": stream.measure,
    "startup": startup.measure,
    "recorder": recorder.measure,
    "queries": queries.measure,
    "states": states.measure,
    "logsize": logsize.measure,
    "compaction": compaction.measure,
    "memory": memory.measure,
}

QUIET_LOAD = 0.5


def main() -> None:
    """Measure what was asked for, everything by default."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench", description=__doc__)
    parser.add_argument(
        "--quick", action="store_true", help="fewer and shorter runs, less than 2 minutes"
    )
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(BENCHMARKS))
    arguments = parser.parse_args()
    unknown = set(arguments.names) - set(BENCHMARKS)
    if unknown:
        parser.error(
            f"no benchmark {', '.join(sorted(unknown))}; there are {', '.join(BENCHMARKS)}"
        )
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # so that the scratch folder goes
    with tempfile.TemporaryDirectory(prefix="acp-proxy-bench-", ignore_cleanup_errors=True) as name:
        folder = Path(name)
        routes = ROUTES if _proxy_works(folder) else ROUTES[:2]
        settings = Settings(arguments.quick, folder, routes)
        try:
            _print_report(settings, arguments.names or list(BENCHMARKS))
        finally:
            end_recorders(folder)


def _print_report(settings: Settings, names: list[str]) -> None:
    start = time.monotonic()
    title = "acp-proxy bench, quick" if settings.quick else "acp-proxy bench"
    print(f"{title}: {machine(settings.folder)}", flush=True)
    if os.getloadavg()[0] > QUIET_LOAD:
        print("other work is running here: expect wide spreads, a slow recorder, odd ratios")
    if not settings.has_proxy:
        print(f"{CONSOLE_SCRIPT.name} is not installed beside this Python, or does not run")
    rows: list[Row] = []
    for name in names:
        print(f"{name} …", file=sys.stderr)
        try:
            for row in BENCHMARKS[name](settings):
                rows.append(row)  # noqa: PERF402 - what was measured before an error stays
        except (BenchError, OSError, sqlite3.Error) as error:
            rows.append(Row(f"{name}: failed", proxy=str(error)))
    print(table(rows))
    print("median (smallest-largest) of alternating runs; ratios are of runs beside each other")
    print(f"{time.monotonic() - start:.0f} s, load at the end {os.getloadavg()[0]:.1f}")


def _proxy_works(folder: Path) -> bool:
    if not CONSOLE_SCRIPT.exists():
        return False
    probe = [str(CONSOLE_SCRIPT), "run", "--log", str(folder / "probe" / "log.db"), "--", "true"]
    try:
        done = subprocess.run(probe, timeout=20, check=False, stdin=subprocess.DEVNULL)
    except subprocess.TimeoutExpired:
        return False
    return done.returncode == 0


if __name__ == "__main__":
    main()
