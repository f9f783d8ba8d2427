"""Lines that are no message: text, broken JSON and JSON inside text are told apart, and pointed at.

Positions in a reason count the bytes of the line, from 0.
"""

from __future__ import annotations

import re

import pytest

from acp_proxy.wire.jsonrpc import Kind, classify
from tests.wire.shape import cost

FRAME = b'{"jsonrpc":"2.0","id":1,"result":{}}'


def _positions(reason: str | None) -> list[int]:
    assert reason is not None
    return [int(number) for number in re.findall(r"(?:byte|bytes|to) (\d+)", reason)]


@pytest.mark.parametrize("raw", [b"", b"\n", b"\r\n", b"  \n", b"\t \r\r\n", b" "])
def test_a_line_of_white_space_is_blank(raw: bytes) -> None:
    [message] = classify(raw)
    assert (message.kind, message.flags, message.reason) == (Kind.TEXT, ("blank",), None)


@pytest.mark.parametrize(
    "raw",
    [
        b"NaN\n", b"Infinity\n", b"-Infinity", b"tru", b"nul\n", b"1 2\n", b"1.\n", b"01\n", b"+1\n",
        b".5\n", b"0x1f\n", b"'a'\n", b"\x00\n", b"}\n", b"]\n", b":\n", b",\n", b"\x1b[0m\n", b"\x7f",
        b"\x85\n".decode("latin-1").encode(), b"1_000\n", b"\xe2\x80\xa8\n", b"[tool] ok\n",
    ],
)  # fmt: skip
def test_a_line_that_does_not_look_like_a_message_is_text(raw: bytes) -> None:
    [message] = classify(raw)
    assert (message.kind, message.value) == (Kind.TEXT, None)
    assert message.flags == ("not-json",)


@pytest.mark.parametrize(
    ("raw", "says"),
    [
        (b'{"jsonrpc":"2.0","id":1,"result":{"n":NaN}}\n', "NaN"),
        (b'{"jsonrpc":"2.0","id":1,"result":{"n":Infinity}}\n', "Infinity"),
        (b'{"jsonrpc":"2.0","id":1,"result":{"n":-Infinity}}\n', "-Infinity"),
        (b'{"jsonrpc":"2.0","id":NaN,"method":"m"}\n', "NaN"),
        (b'[{"jsonrpc":"2.0","id":1,"result":NaN}]\n', "NaN"),
        (b'{"jsonrpc":"2.0","id":1,"result":tru}\n', "byte 33"),
        (b'{"jsonrpc":"2.0","id":1,"result":{},}\n', "byte 36"),
        (b'{"jsonrpc":"2.0","id":1,"result":"a\tb"}\n', "byte 35"),
        (b'{"jsonrpc":"2.0","id":1,"result":"a\x00b"}\n', "byte 35"),
        (b'{"jsonrpc":"2.0","id":1,"result":"\x1f"}\n', "byte 34"),
        (b'{"jsonrpc":"2.0","id":1,"result":"\\x41"}\n', "byte 34"),
        (b'{"jsonrpc":"2.0","id":1,"result":"\\u12"}\n', "byte 3"),
        (b'{"jsonrpc":"2.0","id":1,"result":01}\n', "byte 34"),
        (b'{"jsonrpc":"2.0","id":1,"result":"\xc3\xa9\xf0\x9f\x98\x80" 1}\n', "byte 42"),
        (b"{'id':1}\n", "byte 1"),
        (b"{\n", "byte 1"),
        (b'{"jsonrpc":"2.0","id":1,"method":"m","params":{"text":"cut sho', "byte 54"),
        (b'[{"jsonrpc":"2.0","id":1,"method":"m\n', "byte"),
        (b"[[[1,\n", "byte"),
    ],
)
def test_broken_json_is_invalid_and_the_reason_says_where(raw: bytes, says: str) -> None:
    [message] = classify(raw)
    assert message.kind is Kind.INVALID
    assert message.flags == ("bad-json",)
    assert message.reason is not None
    assert says in message.reason


@pytest.mark.parametrize(
    "raw",
    [
        b'{"jsonrpc":"2.0","id":1,"result":{"sessions":[{"id":"a","title":"b"},{"id"',
        b'{"jsonrpc":"2.0","id":1,"result":{"configOptions":[{"id":"model","name":"M"}],"mod',
        b'{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":"m","data":{"error":"inner"}',
        b'{"jsonrpc":"2.0","id":1,"method":"m","params":{"request":{"method":"GET"},"n":NaN}}\n',
        b'{"jsonrpc":"2.0","method":"session/update","params"{"sessionId":"s","x":{"id":1}}}\n',
    ],
)
def test_an_object_inside_a_broken_message_is_not_a_hidden_message(raw: bytes) -> None:
    [message] = classify(raw)
    assert (message.kind, message.flags) == (Kind.INVALID, ("bad-json",))


AROUND = {
    "an escape sequence": (b"\x1b]0;agent\x07", b"\n"),
    "a word": (b"log: ", b"\n"),
    "characters of several bytes": ("┊ naïve 😀 ".encode(), b"\n"),
    "white space first": (b"  \t log: ", b" \r\n"),
    "a form feed": (b"\x0c", b"\n"),
    "NULs": (b"\x00\x00", b"\x00\n"),
    "a byte-order mark and text": (b"\xef\xbb\xbflog: ", b"\n"),
    "two byte-order marks": (b"\xef\xbb\xbf\xef\xbb\xbf", b"\n"),
    "an object that is no message": (b'{"a":1} ', b"\n"),
    "braces": (b"{ {x} {", b" } }\n"),
    "invalid UTF-8": (b"\xff\xfe ", b"\n"),
    "half a message": (b'{"jsonrpc":"2.0","me', b"\n"),
    "an array": (b"[1, ", b"]]\n"),
}


@pytest.mark.parametrize("case", AROUND)
def test_json_behind_other_text_is_pointed_at(case: str) -> None:
    before, after = AROUND[case]

    [message] = classify(before + FRAME + after)

    assert (message.kind, message.value, message.id) == (Kind.INVALID, None, None)
    assert "hidden-json" in message.flags
    assert _positions(message.reason) == [len(before), len(before) + len(FRAME)]


@pytest.mark.parametrize("before", [b"", b" ", b"\t ", b"\xef\xbb\xbf"])
@pytest.mark.parametrize(
    "after", [b" trailing\n", b"}\n", FRAME + b"\n", b"\x1b[0m", b",\n", b"\xff\n"]
)
def test_text_after_json_is_pointed_at(before: bytes, after: bytes) -> None:
    [message] = classify(before + FRAME + after)

    assert (message.kind, message.value) == (Kind.INVALID, None)
    assert "hidden-json" in message.flags
    assert message.reason is not None
    assert "after" in message.reason
    assert _positions(message.reason) == [len(before) + len(FRAME)]


def test_a_batch_behind_text_is_found_as_well() -> None:
    [message] = classify(b"log: [" + FRAME + b"," + FRAME + b"]\n")
    assert (message.kind, message.flags) == (Kind.INVALID, ("hidden-json",))


@pytest.mark.parametrize(
    "raw",
    [
        b"opened {'a': 1}\n",
        b'done {"a":1}\n',
        b"{} {}\n"[2:],
        b"x" * 100 + b'{"ok":true}\n',
        b"f(){}\n",
    ],
)
def test_an_object_that_is_no_message_is_not_looked_for_in_text(raw: bytes) -> None:
    [message] = classify(raw)
    assert "hidden-json" not in message.flags


@pytest.mark.parametrize("start", [b'{"a":' * 16, b'{"a":' * 500, b'{"a":[' * 100, b"{" * 40])
def test_the_search_for_hidden_json_costs_no_more_than_a_few_readings(start: bytes) -> None:
    """A line of log text may hold many brackets; a recorder has to keep up with it."""
    noise = b"log: " + start + b"[" + b"1," * 20_000 + b'"jsonrpc" x\n'
    once = b'{"jsonrpc":"2.0","a":0,"a":0,"method":"m","params":[' + b"1," * 20_000 + b"1]}\n"
    assert classify(noise)[0].value is None
    assert "duplicate-key" in classify(once)[0].flags

    assert cost(lambda: classify(noise)) / cost(lambda: classify(once)) < 6


@pytest.mark.parametrize(
    ("raw", "position"),
    [
        (b'{"jsonrpc":"2.0","id":1,"result":{"t":"\xff"}}\n', 39),
        (b'  {"jsonrpc":"2.0","id":1,"result":{"t":"\xc3"}}\n', 41),
        (b'{"jsonrpc":"2.0","id":1,"result":{"t":"\xed\xa0\x80"}}\n', 39),
        (b'{"jsonrpc":"2.0","id":1,"result":{"t":"\xc3\xa9\xc0\x80"}}\n', 41),
        (b'\xef\xbb\xbf{"jsonrpc":"2.0","id":1,"result":"\xe9"}\n', 37),
        (b'{"jsonrpc":"2.0","id":1,"\xe9":0,"result":{}}\n', 25),
    ],
)
def test_a_message_that_is_not_utf8_says_so_and_nothing_else(raw: bytes, position: int) -> None:
    [message] = classify(raw)

    assert (message.kind, message.value) == (Kind.INVALID, None)
    assert "not-utf8" in message.flags
    assert "hidden-json" not in message.flags
    assert _positions(message.reason) == [position]


@pytest.mark.parametrize(
    "raw", [b"\xff\n", b"caf\xe9\n", b"\xef\xbb\n", b"\xed\xa0\x80\n", b"\xc3"]
)
def test_text_that_is_not_utf8_is_flagged(raw: bytes) -> None:
    [message] = classify(raw)
    assert (message.kind, message.value) == (Kind.TEXT, None)
    assert "not-utf8" in message.flags


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be", "utf-16", "utf-32"])
def test_other_encodings_are_not_guessed(encoding: str) -> None:
    [message] = classify(FRAME.decode().encode(encoding))
    assert message.kind in (Kind.TEXT, Kind.INVALID)
    assert message.value is None


def test_a_byte_order_mark_alone_is_text() -> None:
    [message] = classify(b"\xef\xbb\xbf\r\n")
    assert message.kind is Kind.TEXT
    assert "bom" in message.flags
