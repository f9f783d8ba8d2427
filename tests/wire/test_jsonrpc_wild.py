"""Lines that were seen on real connections (W01 to W49 of our collection), and what they are."""

from __future__ import annotations

from typing import NamedTuple

import pytest

from acp_proxy.wire.framing import LineFramer
from acp_proxy.wire.jsonrpc import Kind, Message, classify

REQUEST, NOTIFICATION = Kind.REQUEST, Kind.NOTIFICATION
RESULT, ERROR, INVALID, TEXT = Kind.RESULT, Kind.ERROR, Kind.INVALID, Kind.TEXT


class Seen(NamedTuple):
    """One message of a stream: its kind, its id, its flags."""

    kind: Kind
    id: str | None = None
    flags: tuple[str, ...] = ()


NOISE = Seen(TEXT, None, ("not-json",))
BLANK = Seen(TEXT, None, ("blank",))
STREAMS: dict[str, tuple[bytes, list[Seen]]] = {
    "W01 log lines first, no newline last": (
        b'Loading model...\n{"jsonrpc":"2.0","id":1,"result":{}}',
        [NOISE, Seen(RESULT, "1")],
    ),
    "W02 migration text": (
        b'migrating store: 3 of 9\n{"jsonrpc":"2.0","id":0,"result":{}}\n',
        [NOISE, Seen(RESULT, "0")],
    ),
    "W04 text after the last frame": (
        b'{"jsonrpc":"2.0","id":9,"result":{}}\nhook onExit finished in 12ms\n',
        [Seen(RESULT, "9"), NOISE],
    ),
    "W05 logger output": (b"12:01 INFO tool registry ready\n", [NOISE]),
    "W06 colours, boxes and blank lines": (
        '\x1b[36m┊ [tool] reading\x1b[0m\n\n{"jsonrpc":"2.0","method":"session/update"}\n'.encode(),
        [NOISE, BLANK, Seen(NOTIFICATION)],
    ),
    "W06 a bracketed word": (b"[tool] reading {3 files}\n[\n[x]\n", [NOISE, NOISE, NOISE]),
    "W07 an escape in front of JSON": (
        b'\x1b]0;agent\x07{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":1}}\n',
        [Seen(INVALID, None, ("hidden-json",))],
    ),
    "W08 JSON that is no object": (
        b'"ready"\n{"jsonrpc":"2.0","id":0,"result":{}}\n',
        [Seen(INVALID), Seen(RESULT, "0")],
    ),
    "W09 a banner answered by parse errors": (
        b'Welcome!\r\n{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"Parse error"}}\n',
        [NOISE, Seen(ERROR, "null", ("null-id",))],
    ),
    "W10 a prompt of a shell": (b"dev@box:~$ PATH=/usr/bin\n", [NOISE]),
    "W11 half a sentence": (b"Last login: Tue", [NOISE]),
    "W13 separators inside a string": (
        '{"jsonrpc":"2.0","method":"x","params":{"t":"a\u2028b\u2029c\x85"}}\n'.encode(),
        [Seen(NOTIFICATION)],
    ),
    "W15 framing of LSP": (
        b'Content-Length: 52\r\n\r\n{"jsonrpc":"2.0","id":1,"method":"initialize"}',
        [NOISE, BLANK, Seen(REQUEST, "1")],
    ),
    "W17 a lone surrogate": (
        b'{"jsonrpc":"2.0","method":"x","params":{"text":"ok \\ud83d"}}\n',
        [Seen(NOTIFICATION, None, ("lone-surrogate",))],
    ),
    "W18 a byte-order mark": (
        b'\xef\xbb\xbf{"jsonrpc":"2.0","id":0,"method":"initialize"}\n',
        [Seen(REQUEST, "0", ("bom",))],
    ),
    "W19 CRLF": (b'{"jsonrpc":"2.0","id":3,"result":{}}\r\n', [Seen(RESULT, "3")]),
    "W25 NaN": (
        b'{"used":9007199254740993,"cost":{"amount":NaN}}\n',
        [Seen(INVALID, None, ("bad-json",))],
    ),
    "W26 a colon is missing": (
        b'{"jsonrpc":"2.0","method":"session/update","params"{"sessionId":"s"}}\n',
        [Seen(INVALID, None, ("bad-json",))],
    ),
    "W27 an extra key at the root": (
        (
            b'{"type":"com.agentclientprotocol.rpc.JsonRpcRequest","id":3,"method":"session/new",'
            b'"jsonrpc":"2.0"}\n'
        ),
        [Seen(REQUEST, "3", ("extra-key",))],
    ),
    "W28 the id stands last": (
        b'{"method":"session/new","params":{},"jsonrpc":"2.0","id":4}\n',
        [Seen(REQUEST, "4")],
    ),
    "W29 ids of two types": (
        (
            b'{"jsonrpc":"2.0","id":7,"method":"m"}\n'
            b'{"jsonrpc":"2.0","id":"0b6c0b6c-1111-4222-8333-444444444444","method":"m"}\n'
        ),
        [Seen(REQUEST, "7"), Seen(REQUEST, '"0b6c0b6c-1111-4222-8333-444444444444"')],
    ),
    "W33 a parse error with id 0": (
        b'{"jsonrpc":"2.0","id":0,"error":{"code":-32700,"message":"m"}}\n',
        [Seen(ERROR, "0")],
    ),
    "W34 an error about a notification": (
        b'{"jsonrpc":"2.0","id":null,"error":{"code":-32601,"message":"unknown _x.ai/ping"}}\n',
        [Seen(ERROR, "null", ("null-id",))],
    ),
    "W36 result and error": (
        b'{"jsonrpc":"2.0","id":5,"result":{"outcome":{}},"error":{"code":-1,"message":"x"}}\n',
        [Seen(ERROR, "5", ("result-and-error",))],
    ),
    "W37 an empty success": (b'{"jsonrpc":"2.0","id":5,"result":{}}\n', [Seen(RESULT, "5")]),
    "W38 a null result": (b'{"jsonrpc":"2.0","id":2,"result":null}\n', [Seen(RESULT, "2")]),
    "W39 no jsonrpc": (
        b'{"id":0,"method":"initialize","params":{"protocolVersion":"2025-01-01"}}\n',
        [Seen(REQUEST, "0", ("no-jsonrpc",))],
    ),
    "W49 a batch": (
        (
            b'[{"jsonrpc":"2.0","id":2,"method":"session/list"},'
            b'{"jsonrpc":"2.0","method":"session/cancel","params":{"sessionId":"s"}}]\n'
        ),
        [Seen(REQUEST, "2", ("batch",)), Seen(NOTIFICATION, None, ("batch",))],
    ),
}


def _messages(stream: bytes, size: int) -> list[Message]:
    framer = LineFramer()
    frames = [f for at in range(0, len(stream), size) for f in framer.feed(stream[at : at + size])]
    last = framer.close()
    if last is not None:
        frames.append(last)
    return [message for frame in frames for message in classify(frame.raw)]


@pytest.mark.parametrize("size", [1, 3, 10**6])
@pytest.mark.parametrize("case", STREAMS)
def test_what_the_world_writes_is_understood(case: str, size: int) -> None:
    stream, expected = STREAMS[case]

    messages = _messages(stream, size)

    assert [Seen(m.kind, m.id, m.flags) for m in messages] == expected
    for message in messages:
        assert (message.reason is not None) == (message.kind is INVALID)


def test_pretty_printed_json_is_no_message_on_any_of_its_lines() -> None:
    messages = _messages(b'{\n  "jsonrpc": "2.0",\n  "id": 0,\n  "method": "m"\n}\n', 5)
    assert [message.kind for message in messages] == [INVALID, TEXT, TEXT, TEXT, TEXT]
    assert messages[0].flags == ("bad-json",)


def test_a_character_split_over_two_reads_is_one_character() -> None:
    [message] = _messages(b'{"jsonrpc":"2.0","method":"m","params":{"text":"na\xc3\xafve"}}\n', 1)
    assert message.value["params"]["text"] == "naïve"
    assert message.flags == ()


def test_separators_that_are_no_newlines_stay_in_the_text() -> None:
    text = "a\u2028b\u2029c\x85d\x7fe"
    [message] = _messages(f'{{"jsonrpc":"2.0","method":"m","params":["{text}"]}}\n'.encode(), 2)
    assert message.value["params"] == [text]


def test_a_lone_surrogate_keeps_its_value() -> None:
    [message] = _messages(STREAMS["W17 a lone surrogate"][0], 4)
    assert message.value["params"]["text"] == "ok \ud83d"


@pytest.mark.parametrize("size", [70_000, 12_000_000])
def test_a_long_line_is_a_message_like_any_other(size: int) -> None:
    line = b'{"jsonrpc":"2.0","method":"m","params":{"t":"' + b"x" * size + b'"}}\n'
    [message] = _messages(line, 65_536)
    assert message.kind is NOTIFICATION
    assert message.value["params"]["t"] == "x" * size
