"""Bytes pass unchanged, at once, in both directions, and are recorded as they were."""

from __future__ import annotations

import hashlib
import json
import os
import random
from typing import TYPE_CHECKING

import pytest

from tests.agents.exchange import long_line
from tests.harness import (
    PROXY,
    Log,
    Process,
    Sender,
    Way,
    agent,
    assert_holds,
    environment,
    needs_linux,
    peak_memory_kib,
    uncovered,
)

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = needs_linux

AWKWARD = {
    "frames": b'{"jsonrpc":"2.0","id":0,"method":"initialize"}\n{"jsonrpc":"2.0","method":"x"}\n',
    "line ends of another system": b'{"jsonrpc":"2.0","id":1,"result":{}}\r\n{"a":1}\r\n',
    "lone carriage returns": b'{"a":1}\r{"a":2}\r\r\n\r',
    "blank lines": b'\n\n\r\n \n\t\n{"a":1}\n\n',
    "byte order mark": b'\xef\xbb\xbf{"jsonrpc":"2.0","id":0,"result":{}}\n',
    "invalid UTF-8": b'\xff\xfe{"a":"\xc3("}\n\xed\xa0\xbd\n\x80\n',
    "NUL bytes": b'\x00\x00{"a":1}\x00\n\x00\n',
    "an escape sequence before JSON": b'\x1b]0;agent\x07{"jsonrpc":"2.0","id":0,"result":{}}\n',
    "text before and after JSON": b'ready {"a":1} done\nContent-Length: 7\r\n\r\n{"a":1}',
    "line separators that are none": '{"t":"a\u2028b\u2029c\u0085d\x0be\x0cf"}\n'.encode(),
    "end of file characters": b"\x04\x1a\x03\x04\n\x1a",
    "no final newline": b'{"a":1}\n{"jsonrpc":"2.0","id":9,"resu',
    "one byte": b"x",
    "one newline": b"\n",
    "nothing": b"",
}


def frame_count(data: bytes) -> int:
    """Count the lines of a stream; an unterminated tail is one too."""
    return data.count(b"\n") + (data != b"" and not data.endswith(b"\n"))


@pytest.mark.parametrize("data", AWKWARD.values(), ids=AWKWARD.keys())
def test_awkward_bytes_come_back_unchanged_and_are_recorded(way: Way, data: bytes) -> None:
    with way.start(agent("echo")) as process:
        process.send(data)
        process.stdout.wait_count(len(data))
        process.close_stdin()

        assert process.stdout.wait_end() == data
        assert process.stderr.wait_end() == b""
        assert process.wait() == 0

    way.assert_recorded(client=data, agent=data, stderr=b"")


@pytest.mark.slow
def test_both_directions_at_once_carry_everything_and_the_export_gives_it_back(
    log: Log, proxied: Way, tmp_path: Path
) -> None:
    pieces = list(AWKWARD.values())
    noise = random.Random(1)
    to_client = b"".join(pieces) + b"\n" + noise.randbytes(1 << 20) + b"no newline at the end"
    to_agent = noise.randbytes(1 << 20) + b"\n" + b"".join(reversed(pieces)) + b'{"half":'
    (tmp_path / "to_client").write_bytes(to_client)
    report = tmp_path / "report"

    command = agent("exchange", "--send", tmp_path / "to_client", "--report", report)
    with proxied.start(command) as process:
        sender = Sender(process.stdin_fd, [to_agent])
        sender.finish()
        process.close_stdin()
        assert process.stdout.wait_end() == to_client
        assert process.stderr.wait_end() == b""
        assert process.wait() == 0

    received = json.loads(report.read_text())["received"]
    assert received["sha256"] == hashlib.sha256(to_agent).hexdigest()
    connection = log.connection()
    assert_holds(connection, client=to_agent, agent=to_client, stderr=b"")
    assert connection["frames"] == frame_count(to_agent) + frame_count(to_client)
    assert log.export("client") == to_agent
    assert log.export("agent") == to_client
    assert log.export("stderr") == b""
    log.assert_clean()


def test_each_byte_of_a_frame_is_passed_on_before_the_next_is_written(way: Way) -> None:
    line = '{"jsonrpc":"2.0","method":"x","params":{"t":"naïve ☕ 𝄞"}}\n'.encode()
    with way.start(agent("echo")) as process:
        for position in range(len(line)):
            process.send(line[position : position + 1])
            assert process.stdout.wait_count(position + 1) == line[: position + 1]
        process.close_stdin()
        assert process.wait() == 0

    way.assert_recorded(client=line, agent=line, stderr=b"")


def test_the_first_bytes_of_a_long_line_arrive_before_it_is_complete(way: Way) -> None:
    line = b"".join(long_line(3_000_000))
    first = line[:2_000_000]
    with way.start(agent("echo")) as process:
        process.send(first)
        assert process.stdout.wait_count(len(first)) == first
        process.send(line[len(first) :])
        assert process.stdout.wait_count(len(line)) == line
        process.close_stdin()
        assert process.wait() == 0

    way.assert_recorded(client=line, agent=line, stderr=b"")


def test_bytes_of_stderr_are_passed_on_at_once_too(way: Way) -> None:
    with way.start(agent("closes_stdout")) as process:
        process.stderr.wait_for(b"output closed\n")
        process.send(b"\xff\x00\r\n")
        process.wait()
        assert process.stderr.wait_end() == b"output closed\nwas told \xff\x00\r\n"

    way.assert_recorded(stderr=b"output closed\nwas told \xff\x00\r\n")


@pytest.mark.slow
def test_a_frame_of_200_megabytes_in_both_directions_at_once(
    log: Log, proxied: Way, tmp_path: Path
) -> None:
    size = int(os.environ.get("ACP_TEST_LONG_LINE", "200000000"))
    report = tmp_path / "report"
    command = agent("exchange", "--line", size, "--report", report)
    with proxied.start(command, keep=False, env=uncovered(environment())) as process:
        sender = Sender(process.stdin_fd, long_line(size), seconds=300)
        sender.finish()
        peak = peak_memory_kib(process.pid)
        process.close_stdin()
        process.stdout.wait_end(300)
        assert process.wait(300) == 0
        received = process.stdout.sha256
        assert process.stderr.count == 0

    told = json.loads(report.read_text())
    assert told["sent"] == {"sha256": received, "bytes": size}
    assert told["received"] == {"sha256": received, "bytes": size}
    assert peak <= 40 * 1024
    connection = log.connection()
    assert connection["bytes"] == {"client": size, "agent": size, "stderr": 0}
    assert connection["sha256"]["client"] == received
    assert connection["sha256"]["agent"] == received
    assert connection["gaps"] == []
    for stream in ("client", "agent"):
        command = [str(PROXY), "export", "latest", "--stream", stream, "--log", str(log.path)]
        with Process(command, keep=False) as export:
            export.stdout.wait_end(300)
            assert export.wait() == 0
            assert export.stdout.sha256 == received
    log.assert_clean()
