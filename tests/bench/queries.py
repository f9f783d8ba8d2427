"""The time of whole reading commands on a long log.

Only what the recorder's benchmark leaves behind is asked; no log is made here.
"""

import subprocess
import time
from pathlib import Path

from tests.bench.report import SECONDS, Row, Spread, Target, at_most
from tests.bench.routes import CONSOLE_SCRIPT, Settings

LIMIT_S = 0.3
LIMIT = f"≤ {LIMIT_S} s"


def query_rows(settings: Settings, log: Path, messages: int) -> list[Row]:
    """Time each command; one that fails is shown as such and judged no further."""
    middle = str(messages // 2)
    return [
        _timed(settings, log, "connections"),
        _timed(settings, log, "messages", "--limit", "50"),
        _timed(settings, log, "messages", "--since-seq", middle, "--limit", "50"),
        _timed(settings, log, "messages", "--kind", "error", "--limit", "50"),
        _timed(settings, log, "show", "latest", middle),
        _timed(settings, log, "tail", "-n", "20"),
        _timed(settings, log, "stats"),
    ]


def _timed(settings: Settings, log: Path, name: str, *arguments: str) -> Row:
    figure = " ".join((name, *arguments))
    whole = [str(CONSOLE_SCRIPT), name, "--log", str(log), *arguments]
    values = []
    for _ in settings.rounds(3, 7, limit_s=30):
        start = time.perf_counter()
        try:
            done = subprocess.run(whole, capture_output=True, timeout=30, check=False)
        except subprocess.TimeoutExpired:
            return Row(figure, proxy="> 30 s", target=Target(LIMIT, met=False))
        if done.returncode > 1:  # 1 is the answer that nothing matches
            return Row(figure, proxy=f"exit {done.returncode}", target=Target(LIMIT, None))
        values.append(time.perf_counter() - start)
    spread = Spread(tuple(values))
    return Row(figure, proxy=spread.show(SECONDS), target=at_most(spread.median, LIMIT_S, LIMIT))
