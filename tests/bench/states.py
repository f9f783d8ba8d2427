"""What the state costs: recording a conversation whose state grows, and asking for it anywhere.

The conversation is that of ``large_state``; the baseline of a question is ``cat`` of its answer. Linux
only: the peak comes from the kernel.
"""

import os
import random
import sqlite3
import subprocess
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

from tests.bench.conversation import Conversation
from tests.bench.large_state import write_large_state
from tests.bench.memory import RECORDER_LIMIT, Watch
from tests.bench.recorder import FLOOR, check, play
from tests.bench.report import (
    MEGABYTES,
    PER_SECOND,
    SECONDS,
    TIMES,
    Row,
    Spread,
    Target,
    at_least,
    at_most,
)
from tests.bench.routes import (
    CONSOLE_SCRIPT,
    Peer,
    Settings,
    command,
    recorders,
    script,
    wait_recorded,
    wait_until,
)

STATE_S = 0.5
MEMORY = 200e6


def measure(settings: Settings) -> Iterator[Row]:
    """Yield the recorder's rate and peak, what checkpoints take, and the time at some points."""
    conversation = write_large_state(settings.folder / "large", settings.pick(100_000, 1_000_000))
    name = f"{conversation.messages / 1e6:.1f} M messages, growing state"
    if not settings.has_proxy:
        yield Row(f"recorder, {name}", target=Target("", None))
        return
    rates: list[float] = []
    per_cpu_s: list[float] = []
    peaks: list[float] = []
    asked: list[Row] = []
    for number in settings.rounds(1, 5, limit_s=300):
        with settings.log() as log:
            watch, seconds = _recorded(log, conversation)
            rates.append(conversation.messages / seconds)
            per_cpu_s.append(conversation.messages / (watch.recorder_cpu_s or float("inf")))
            peaks.append(watch.recorder)
            if number == 0:
                asked = [_size(log, conversation), *_questions(settings, log, conversation)]
    rate = Spread(tuple(rates))
    target = at_least(rate.median, FLOOR, f"≥ {FLOOR // 1000} k/s")
    yield Row(f"recorder, {name}", proxy=rate.show(PER_SECOND), target=target)
    yield Row("the same, per second of CPU", proxy=Spread(tuple(per_cpu_s)).show(PER_SECOND))
    peak = at_most(max(peaks), RECORDER_LIMIT, "≤ 150 MB")
    yield Row("peak of recorder", proxy=Spread(tuple(peaks)).show(MEGABYTES), target=peak)
    yield from asked


def _recorded(log: Path, conversation: Conversation) -> tuple[Watch, float]:
    """Record a conversation; return what was watched, and the seconds until all was in the log."""
    agent = script("exchange_agent.py", conversation.folder)
    with Peer(command("proxy", agent, log), limit_s=300) as peer:
        with Watch(peer.pid, log, every_s=0.02) as watch:
            play(peer, conversation)
            peer.finish()
            recorded = wait_recorded(log, 300)
        seconds = recorded - peer.started
    wait_until(lambda: not recorders(log.parent), 30, "the recorder's end")
    check(log, conversation)
    return watch, seconds


def _size(log: Path, conversation: Conversation) -> Row:
    with closing(sqlite3.connect(f"file:{log}?mode=ro", uri=True)) as db:
        [(size,)] = db.execute("SELECT sum(bytes) FROM checkpoints")
    return Row(
        "checkpoints / wire",
        direct=MEGABYTES.show(conversation.wire_bytes),
        proxy=MEGABYTES.show(size or 0),
        to_direct=TIMES.show((size or 0) / conversation.wire_bytes),
        target=at_most(size or 0, conversation.wire_bytes, "< the frames"),
    )


def _questions(settings: Settings, log: Path, conversation: Conversation) -> Iterator[Row]:
    last = conversation.messages
    source = random.Random(4)
    points = {
        "first": 1,
        "middle": last // 2,
        "last": last,
        **{f"random, {seq}": seq for seq in (source.randrange(1, last) for _ in range(3))},
    }
    for form in ([], ["--json"]):
        for where, seq in points.items():
            words = ["state", "--log", str(log), "--at", str(seq), *form]
            answer = log.parent / "answer"
            values, copies, peaks = [], [], []
            for _ in settings.rounds(3, 7, limit_s=30):
                seconds, peak = _timed([str(CONSOLE_SCRIPT), *words], answer)
                values.append(seconds)
                peaks.append(peak)
                copies.append(_timed(["cat", str(answer)], log.parent / "copy")[0])
            spread = Spread(tuple(values))
            is_small = max(peaks) <= MEMORY
            fits = at_most(spread.median, STATE_S, f"≤ {STATE_S} s, 200 MB")
            yield Row(
                " ".join(["state --at", where, *form]),
                bare=Spread(tuple(copies)).show(SECONDS),
                proxy=f"{spread.show(SECONDS)}, {MEGABYTES.show(max(peaks))}",
                target=fits if is_small else Target(fits.text, met=False),
            )


def _timed(words: list[str], answer: Path) -> tuple[float, float]:
    """Run a command, its output into a file; return its seconds and its peak memory."""
    start = time.perf_counter()
    with answer.open("wb") as file:
        process = subprocess.Popen(words, stdout=file)
        _, _, usage = os.wait4(process.pid, 0)
        process.returncode = 0
    return time.perf_counter() - start, usage.ru_maxrss * 1024
