"""What compacting a log brings and costs: its size, the CPU of doing it, and of asking afterwards.

The conversation is that of the recorder's benchmark; real ones are imported beside it where
the captures are there. ``direct`` is the log as it was recorded. CPU is that of whole commands.
"""

import json
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

from tests.bench.conversation import write_conversation
from tests.bench.recorder import recorded
from tests.bench.report import MEGABYTES, SECONDS, TIMES, Row, Spread
from tests.bench.routes import (
    CONSOLE_SCRIPT,
    BenchError,
    Settings,
)

_CAPTURES = Path(__file__).resolve().parents[3] / "shared" / "captures"


def measure(settings: Settings) -> Iterator[Row]:
    """Yield the sizes before and after, the CPU of compacting, and of some questions."""
    if not settings.has_proxy:
        yield Row("compact")
        return
    if _CAPTURES.is_dir():
        with settings.log() as log:
            for capture in sorted(_CAPTURES.glob("*.jsonl")):
                _run(log, "import", str(capture))
            yield from _compacted(log, "real conversations")
    conversation = write_conversation(settings.folder / "talk", settings.pick(100_000, 1_000_000))
    with settings.log() as log:
        recorded(log, conversation)
        last = conversation.messages
        questions = [
            ["show", "latest", str(last // 2)],
            ["state", "--at", str(last // 2)],
            ["messages", "--since-seq", str(last // 2), "--limit", "50"],
            ["messages", "--grep", "nothing has this"],
            ["export", "--stream", "agent"],
        ]
        before = [_asked(settings, log, words) for words in questions]
        yield from _compacted(log, f"{last / 1e6:.1f} M messages")
        for words, plain in zip(questions, before, strict=True):
            packed = _asked(settings, log, words)
            yield Row(
                " ".join(words),
                direct=plain.show(SECONDS),
                proxy=packed.show(SECONDS),
                to_direct=packed.against(plain).show(TIMES),
            )
        _, undone = _run(log, "compact", "--all", "--undo")
        yield Row("compact --undo", proxy=SECONDS.show(undone))


def _compacted(log: Path, name: str) -> Iterator[Row]:
    """Compact a log and yield what that came to."""
    _run(log, "log", "vacuum")
    large = log.stat().st_size
    printed, spent = _run(log, "compact", "--all", "--vacuum", "--json")
    connections = json.loads(printed)["connections"]
    plain, packed = (sum(one[key] for one in connections) for key in ("bytes", "packedBytes"))
    for what, was, is_now in (("frames", plain, packed), ("the log", large, log.stat().st_size)):
        yield Row(
            f"{what} compacted, {name}",
            direct=MEGABYTES.show(was),
            proxy=MEGABYTES.show(is_now),
            to_direct=TIMES.show(is_now / was),
        )
    yield Row(f"compact, {name}", proxy=SECONDS.show(spent))


def _asked(settings: Settings, log: Path, words: list[str]) -> Spread:
    rounds = settings.rounds(3, 5, limit_s=30)
    return Spread(tuple(_run(log, *words)[1] for _ in rounds))


def _run(log: Path, *words: str) -> tuple[bytes, float]:
    """Run a command; return what it printed, and its seconds of user CPU."""
    before = os.times().children_user
    done = subprocess.run(
        [str(CONSOLE_SCRIPT), *words, "--log", str(log)], capture_output=True, check=False
    )
    if done.returncode > 1:
        raise BenchError(f"{words[0]} ended with {done.returncode}: {done.stderr.decode()}")
    return done.stdout, os.times().children_user - before
