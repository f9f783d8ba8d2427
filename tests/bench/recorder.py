"""How fast the recorder takes in a long mixed conversation.

Twice: beside the traffic, as in life, and alone, held back until the traffic is over.
The baseline is a plain INSERT of the same lines into one table of a fresh database.
"""

import os
import signal
import sqlite3
import time
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path

from tests.bench.conversation import Conversation, write_conversation
from tests.bench.memory import RECORDER_LIMIT, Watch
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
    BenchError,
    Peer,
    Settings,
    command,
    recorders,
    script,
    wait_recorded,
    wait_until,
)

FLOOR = 40_000
BATCH = 10_000


@dataclass
class Runs:
    """What the rounds gave."""

    insert: list[float] = field(default_factory=list)
    traffic: list[float] = field(default_factory=list)
    overall: list[float] = field(default_factory=list)
    lag_s: list[float] = field(default_factory=list)
    alone: list[float] = field(default_factory=list)
    per_cpu_s: list[float] = field(default_factory=list)
    peaks: list[float] = field(default_factory=list)


def measure(settings: Settings) -> Iterator[Row]:
    """Yield the recorder's rates, its lag and its peak."""
    conversation = write_conversation(
        settings.folder / "conversation", settings.pick(100_000, 1_000_000)
    )
    runs = Runs()
    limit_s = settings.pick(60, 300)
    for _ in settings.rounds(2, 5, limit_s=400):
        runs.insert.append(_plain_insert(settings, conversation))
        if settings.has_proxy:
            _beside_traffic(settings, conversation, runs, limit_s)
            runs.alone.append(_alone(settings, conversation, limit_s))
    yield from _rows(conversation, runs)


def _rows(conversation: Conversation, runs: Runs) -> Iterator[Row]:
    count = f"{conversation.messages / 1e6:.1f} M messages"
    floor = f"≥ {FLOOR // 1000} k/s"
    for figure, rates in (
        ("beside the traffic", runs.overall),
        ("alone", runs.alone),
        ("per second of CPU", runs.per_cpu_s),
    ):
        judged = figure != "per second of CPU"
        yield _rate(f"recorder, {figure}, {count}", runs.insert, rates, floor if judged else "")
    if runs.lag_s:
        lag, traffic = Spread(tuple(runs.lag_s)), Spread(tuple(runs.traffic))
        yield Row("recorder's lag after the last byte", proxy=lag.show(SECONDS))
        yield Row("the same traffic, client's view", proxy=traffic.show(PER_SECOND))
        yield Row(
            f"peak of recorder, {count}",
            proxy=Spread(tuple(runs.peaks)).show(MEGABYTES),
            target=at_most(max(runs.peaks), RECORDER_LIMIT, "≤ 150 MB"),
        )


def _rate(figure: str, insert: list[float], rates: list[float], floor: str) -> Row:
    bare = Spread(tuple(insert))
    if not rates:
        return Row(figure, bare=bare.show(PER_SECOND), target=Target(floor, None))
    spread = Spread(tuple(rates))
    return Row(
        figure,
        bare=bare.show(PER_SECOND),
        proxy=spread.show(PER_SECOND),
        to_bare=spread.against(bare).show(TIMES),
        target=at_least(spread.median, FLOOR, floor) if floor else Target("", None),
    )


def _beside_traffic(
    settings: Settings, conversation: Conversation, runs: Runs, limit_s: float
) -> None:
    agent = script("exchange_agent.py", conversation.folder)
    with settings.log() as log, Peer(command("proxy", agent, log), limit_s=limit_s) as peer:
        with Watch(peer.pid, log, every_s=0.02) as watch:
            play(peer, conversation)
            last = time.perf_counter()
            peer.finish()
            recorded = wait_recorded(log, limit_s)
        check(log, conversation)
        runs.traffic.append(conversation.messages / (last - peer.started))
        runs.overall.append(conversation.messages / (recorded - peer.started))
        runs.per_cpu_s.append(conversation.messages / (watch.recorder_cpu_s or float("inf")))
        runs.lag_s.append(recorded - last)
        runs.peaks.append(watch.recorder)


def _alone(settings: Settings, conversation: Conversation, limit_s: float) -> float:
    agent = script("exchange_agent.py", conversation.folder)
    with settings.log() as log, Peer(command("proxy", agent, log), limit_s=limit_s) as peer:
        wait_until(lambda: bool(recorders(log.parent)), 10, "the recorder's start")
        held = recorders(log.parent)
        for pid in held:
            os.kill(pid, signal.SIGSTOP)
        play(peer, conversation)
        for pid in held:
            os.kill(pid, signal.SIGCONT)
        released = time.perf_counter()
        peer.finish()
        recorded = wait_recorded(log, limit_s)
        check(log, conversation)
        return conversation.messages / (recorded - released)


def recorded(log: Path, conversation: Conversation, *, limit_s: float = 300) -> None:
    """Let a conversation pass through the proxy, and wait until all of it is in the log."""
    agent = script("exchange_agent.py", conversation.folder)
    with Peer(command("proxy", agent, log), limit_s=limit_s) as peer:
        play(peer, conversation)
        peer.finish()
        wait_recorded(log, limit_s)
    wait_until(lambda: not recorders(log.parent), 60, "the recorder's end")
    check(log, conversation)


def play(peer: Peer, conversation: Conversation) -> None:
    """Speak the client's side and read the agent's, exchange by exchange."""
    with (conversation.folder / "client").open("rb") as file:
        for said, answer in conversation.exchanges:
            peer.write(file.read(said))
            peer.read(answer)


def check(log: Path, conversation: Conversation) -> None:
    with closing(sqlite3.connect(f"file:{log}?mode=ro", uri=True)) as connection:
        (count,) = connection.execute("SELECT count(*) FROM messages").fetchone()
    if count != conversation.messages:
        raise BenchError(f"{count} messages in the log, {conversation.messages} travelled")


def _plain_insert(settings: Settings, conversation: Conversation) -> float:
    with settings.log() as log, closing(sqlite3.connect(log)) as connection:
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("CREATE TABLE frames (seq INTEGER PRIMARY KEY, raw BLOB)")
        start = time.perf_counter()
        for side in ("client", "agent"):
            with (conversation.folder / side).open("rb") as file:
                while lines := file.readlines(BATCH * 300):
                    with connection:
                        connection.executemany(
                            "INSERT INTO frames (raw) VALUES (?)", ((line,) for line in lines)
                        )
        return conversation.messages / (time.perf_counter() - start)
