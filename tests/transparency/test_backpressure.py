"""A peer that does not read slows the other peer down, and nothing else."""

from __future__ import annotations

import hashlib
import os
import struct
import time
from functools import partial
from typing import TYPE_CHECKING

import pytest

from tests.harness import (
    Collector,
    Sender,
    Way,
    agent,
    environment,
    needs_linux,
    peak_memory_kib,
    uncovered,
    wait_until,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

pytestmark = needs_linux

SIZE = int(os.environ.get("ACP_TEST_FLOOD", "60000000"))
"""Bytes that are to pass, a part of them against resistance."""

IN_FLIGHT = 8_000_000
"""More than all pipes between the peers can hold."""

MEMORY_KIB = 40 * 1024


def wait_steady(value: Callable[[], int], what: str) -> int:
    """Return the value once it has stopped growing for a while."""
    seen, since = value(), time.monotonic()

    def steady() -> bool:
        nonlocal seen, since
        if (now := value()) != seen:
            seen, since = now, time.monotonic()
        return seen > 0 and time.monotonic() - since > 0.7

    wait_until(steady, what)
    return seen


@pytest.mark.slow
def test_a_client_that_stops_reading_blocks_the_agent_but_not_its_own_cancel(
    way: Way, tmp_path: Path
) -> None:
    counters = tmp_path / "counters"
    counters.write_bytes(bytes(16))
    cancel = b'{"jsonrpc":"2.0","method":"session/cancel"}\n'

    def counter(position: int) -> int:
        return int(struct.unpack_from("<q", counters.read_bytes(), position)[0])

    command = agent("wants_to_send", SIZE, counters)
    env = uncovered(environment())
    with way.start(command, read_stdout=False, keep=False, env=env) as process:
        stuck_at = wait_steady(lambda: counter(0), "the agent is blocked")
        assert stuck_at < IN_FLIGHT
        for number in range(1, 4):
            process.send(cancel)
            wait_until(partial(lambda n: counter(8) == n, number), "the cancel arrives", 10)
            process.stderr.wait_for(b"%d cancels\n" % number)
        assert counter(0) == stuck_at

        output = process.collect_stdout()
        output.wait_count(SIZE, 300)
        if way.log:
            assert peak_memory_kib(process.pid) <= MEMORY_KIB
        process.close_stdin()
        output.wait_end()
        process.stderr.wait_end()
        assert process.wait() == 0
        assert output.count == SIZE
        received = output.sha256

    if way.log:
        connection = way.log.connection()
        assert way.log.export("stderr").splitlines()[-1] == received.encode()
        assert connection["bytes"]["agent"] == SIZE
        assert connection["sha256"]["agent"] == received
        assert connection["bytes"]["client"] == 3 * len(cancel)
        assert connection["gaps"] == []


def numbered(total: int) -> Iterator[bytes]:
    """Yield ``total`` bytes of client lines."""
    line = b'{"jsonrpc":"2.0","method":"_n","params":{"pad":"%s"}}\n' % (b"y" * 950)
    left = total
    while left > 0:
        yield line[:left]
        left -= len(line)


@pytest.mark.slow
def test_an_agent_that_does_not_read_blocks_the_client_but_not_its_own_talk(
    way: Way, tmp_path: Path
) -> None:
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    lines = 50_000
    expected = b"".join(
        b'{"jsonrpc":"2.0","method":"_n","params":{"n":%d}}\n' % number for number in range(lines)
    )
    command = agent("does_not_read", lines, fifo)
    with way.start(command, env=uncovered(environment())) as process:
        sender = Sender(process.stdin_fd, numbered(SIZE), 300)
        output: Collector = process.stdout
        output.wait_for(b"talked\n")
        assert output.data == expected + b"talked\n"
        stuck_at = wait_steady(lambda: sender.count, "the client is blocked")
        assert stuck_at < IN_FLIGHT
        if way.log:
            assert peak_memory_kib(process.pid) <= MEMORY_KIB

        fifo.write_bytes(b"now read")
        sender.finish()
        if way.log:
            assert peak_memory_kib(process.pid) <= MEMORY_KIB
        process.close_stdin()
        last = output.wait_end(300).splitlines()[-1]
        assert process.wait() == 0
        assert process.stderr.wait_end() == b""

    digest = hashlib.sha256()
    for piece in numbered(SIZE):
        digest.update(piece)
    assert last == b"read %d %s" % (SIZE, digest.hexdigest().encode())
    if way.log:
        connection = way.log.connection()
        assert connection["bytes"]["client"] == SIZE
        assert connection["sha256"]["client"] == digest.hexdigest()
        assert connection["gaps"] == []
