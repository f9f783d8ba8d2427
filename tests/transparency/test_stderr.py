"""The agent's stderr: always drained, recorded whole, and never a reason to stop."""

from __future__ import annotations

import pytest

from tests.agents.floods_stderr import flood
from tests.harness import Log, Way, agent, needs_linux

pytestmark = needs_linux


@pytest.mark.slow
def test_ten_megabytes_of_stderr_that_nobody_reads_stop_nothing(log: Log, proxied: Way) -> None:
    size = 10_000_000
    with proxied.start(agent("floods_stderr", size), read_stderr=False) as process:
        for number in range(100):
            question = b'{"jsonrpc":"2.0","id":%d,"method":"x"}\n' % number
            before = process.stdout.count
            process.send(question)
            process.stdout.wait_count(before + len(question))
        process.close_stdin()
        assert process.wait() == 2

    connection = log.connection()
    assert connection["bytes"]["stderr"] == size
    assert log.export("stderr") == flood(size)
    log.assert_clean()


@pytest.mark.slow
def test_a_client_that_reads_stderr_gets_all_of_it(way: Way) -> None:
    size = 4_000_000
    with way.start(agent("floods_stderr", size)) as process:
        process.stderr.wait_count(size)
        process.send(b"hello\n")
        process.stdout.wait_for(b"hello\n")
        process.close_stdin()
        assert process.stderr.wait_end() == flood(size)
        assert process.wait() == 2

    way.assert_recorded(client=b"hello\n", agent=b"hello\n", stderr=flood(size))


@pytest.mark.slow
def test_stderr_that_is_closed_by_the_client_stops_nothing(log: Log, proxied: Way) -> None:
    size = 1_000_000
    with proxied.start(agent("floods_stderr", size), read_stderr=False) as process:
        process.close_stderr()
        process.send(b"hello\n")
        process.stdout.wait_for(b"hello\n")
        process.close_stdin()
        process.wait()

    connection = log.connection()
    assert connection["bytes"]["client"] == len(b"hello\n")
    assert log.export("stderr") == flood(size)
    log.assert_clean()
