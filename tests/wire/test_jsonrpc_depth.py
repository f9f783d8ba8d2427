"""JSON nested deeper than a parser goes: the envelope stays exact, the answer always the same.

Nothing raises, and no message is lost that a shallow one would have given.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

import pytest

from acp_proxy.wire.jsonrpc import Kind, Message, classify
from tests.wire.shape import LINEAR, growth

if TYPE_CHECKING:
    from collections.abc import Callable

T = TypeVar("T")

DEEP = [300, 900, 950, 980, 990, 1000, 1010, 1020, 1023, 1024, 1025, 1050, 1100, 5000, 100_000]
VERY_DEEP = [1000, 1022, 5000, 100_000]


def _nested(depth: int, opening: str = "[", closing: str = "]", inner: str = "") -> str:
    return opening * depth + inner + closing * depth


def _line(depth: int, members: str = '"id":1,"method":"m"', key: str = "params") -> bytes:
    return f'{{"jsonrpc":"2.0",{members},"{key}":{_nested(depth)}}}\n'.encode()


def _under(frames: int, work: Callable[[], T]) -> T:
    """Do work with so many more frames on the stack."""
    return work() if frames == 0 else _under(frames - 1, work)


def _summary(messages: list[Message]) -> list[tuple[object, ...]]:
    return [(m.kind, m.method, m.id, m.batch_index, m.flags, m.reason) for m in messages]


@pytest.mark.parametrize("depth", DEEP)
def test_a_deep_request_is_a_request(depth: int) -> None:
    [message] = classify(_line(depth))
    assert (message.kind, message.method, message.id) == (Kind.REQUEST, "m", "1")
    assert set(message.flags) <= {"unparsed", "unchecked"}
    assert (message.value is None) == ("unparsed" in message.flags)


@pytest.mark.parametrize("depth", DEEP)
def test_a_deep_object_is_like_a_deep_array(depth: int) -> None:
    text = _nested(depth, '{"a":', "}", "1")
    [message] = classify(f'{{"jsonrpc":"2.0","id":1,"result":{text}}}'.encode())
    assert (message.kind, message.id) == (Kind.RESULT, "1")
    assert set(message.flags) <= {"unparsed", "unchecked"}


@pytest.mark.parametrize("depth", DEEP)
def test_a_deep_array_alone_is_no_message(depth: int) -> None:
    for message in classify(_nested(depth).encode() + b"\n"):
        assert message.kind is Kind.INVALID
        assert message.reason


@pytest.mark.parametrize("depth", DEEP)
@pytest.mark.parametrize(
    "text",
    ["{open}", "{close}", "{open}{close}]", "[{open}{close}", "{open}1{close} x", "{{\"a\":{open}",
     "{{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{open}}}", "{{\"id\":1,\"method\":\"m\",\"params\":{open}{close}"],
)  # fmt: skip
def test_deep_text_that_does_not_balance_is_no_message(text: str, depth: int) -> None:
    line = text.format(open="[" * depth, close="]" * depth).encode()

    messages = classify(line)

    assert messages
    for message in messages:
        assert message.kind in (Kind.INVALID, Kind.TEXT)
        assert message.value is None or message.reason


LINES = {
    "empty": '{{"jsonrpc":"2.0","id":1,"method":"m","params":{open}{close}}}',
    "a key twice": '{{"jsonrpc":"2.0","id":1,"method":"m","params":{open}{{"a":1,"a":2}}{close}}}',
    "a lone surrogate": '{{"jsonrpc":"2.0","id":1,"method":"m","params":{open}"\\ud83d"{close}}}',
    "a big number": '{{"jsonrpc":"2.0","id":1,"method":"m","params":{open}1e400{close}}}',
    "a deep id": '{{"jsonrpc":"2.0","id":{open}1e400{close},"method":"m"}}',
    "a deep id in a batch": '[{{"jsonrpc":"2.0","id":{open}{{}}{close},"result":1}}]',
    "cut short": '{{"jsonrpc":"2.0","id":1,"method":"m","params":{open}{close}',
    "behind text": 'log: {{"jsonrpc":"2.0","id":1,"method":"m","params":{open}{close}}}',
}


@pytest.mark.parametrize("depth", [250, 300, 900, 960, 990, 1023, 1024, 1100])
@pytest.mark.parametrize("frames", [30, 100, 400, 600])
@pytest.mark.parametrize("case", LINES)
def test_how_deep_the_caller_is_makes_no_difference(case: str, frames: int, depth: int) -> None:
    """The recorder and ``verify`` must see the same, whatever their stacks."""
    line = LINES[case].format(open="[" * depth, close="]" * depth).encode()
    here = classify(line)

    there = _under(frames, lambda: classify(line))

    assert _summary(there) == _summary(here)


@pytest.mark.parametrize("depth", [300, 960, 1023])
@pytest.mark.parametrize("frames", [0, 500])
def test_a_deep_key_that_comes_twice_is_not_silently_lost(depth: int, frames: int) -> None:
    text = _nested(depth, inner='{"a":1,"a":2}')
    line = f'{{"jsonrpc":"2.0","method":"m","params":{text}}}'.encode()

    [message] = _under(frames, lambda: classify(line))

    assert {"duplicate-key", "unchecked", "unparsed"} & set(message.flags)


@pytest.mark.parametrize("depth", VERY_DEEP)
@pytest.mark.parametrize(
    ("text", "flags"),
    [
        ('"q1"', set()),
        ("1.10", {"fractional-id"}),
        ("1e400", {"fractional-id", "big-number"}),
        ("9007199254740993", {"unsafe-id"}),
        ("1234567890123456789012345678901234567890", {"unsafe-id", "big-number"}),
        ("null", {"null-id"}),
    ],
)
def test_the_id_of_a_deep_message_is_exact(text: str, flags: set[str], depth: int) -> None:
    [message] = classify(_line(depth, f'"method":"m","id":{text}'))
    assert (message.kind, message.id) == (Kind.REQUEST, text)
    assert set(message.flags) - {"unparsed", "unchecked", "big-number"} == flags - {"big-number"}


@pytest.mark.parametrize("depth", VERY_DEEP)
@pytest.mark.parametrize(
    ("start", "flag"),
    [
        ('{"jsonrpc":"2.0","type":"x","id":1,"method":"m","params":', "extra-key"),
        ('{"jsonrpc":"2.0","id":1,"method":"m","other":', "extra-key"),
        ('{"jsonrpc":"2.0","id":1,"error":null,"result":', "result-and-error"),
        ('{"jsonrpc":"2.0","id":1,"id":2,"method":"m","params":', "duplicate-key"),
        ('{"id":1,"method":"m","params":', "no-jsonrpc"),
        ('{"jsonrpc":"2.0","id":null,"method":"m","params":', "null-id"),
    ],
)
def test_what_is_odd_about_a_deep_envelope_is_flagged(start: str, flag: str, depth: int) -> None:
    [message] = classify(f"{start}{_nested(depth)}}}".encode())
    assert flag in message.flags


@pytest.mark.parametrize("depth", [300, *VERY_DEEP])
def test_a_deep_error_is_a_good_error(depth: int) -> None:
    error = f'{{"code":-32000,"message":"m","data":{_nested(depth)}}}'
    [message] = classify(f'{{"jsonrpc":"2.0","id":1,"error":{error}}}'.encode())
    assert (message.kind, message.id) == (Kind.ERROR, "1")
    assert "bad-error" not in message.flags


@pytest.mark.parametrize("depth", [300, *VERY_DEEP])
def test_a_deep_member_of_a_batch_does_not_hide_the_others(depth: int) -> None:
    deep = f'{{"jsonrpc":"2.0","id":1,"method":"m","params":{_nested(depth)}}}'
    messages = classify(f'[{deep},{{"jsonrpc":"2.0","id":2,"result":{{}}}}]\n'.encode())
    assert [(m.kind, m.id, m.batch_index) for m in messages] == (
        [(Kind.REQUEST, "1", 0), (Kind.RESULT, "2", 1)]
    )


@pytest.mark.parametrize("depth", VERY_DEEP)
def test_a_deep_message_after_text_or_a_byte_order_mark_is_seen_as_such(depth: int) -> None:
    [marked] = classify(b"\xef\xbb\xbf" + _line(depth))
    assert (marked.kind, marked.id) == (Kind.REQUEST, "1")
    assert "bom" in marked.flags

    [behind] = classify(b"log: " + _line(depth))
    assert behind.kind in (Kind.TEXT, Kind.INVALID)
    assert behind.value is None


@pytest.mark.parametrize("depth", VERY_DEEP)
def test_deep_text_with_invalid_utf8_is_flagged(depth: int) -> None:
    [message] = classify(_line(depth).replace(b'"m"', b'"\xff"'))
    assert message.kind is Kind.INVALID
    assert "not-utf8" in message.flags


@pytest.mark.parametrize(
    "make",
    [
        _line,
        lambda n: ("[" * n).encode(),
        lambda n: ("{" * n).encode(),
        lambda n: ('{"a":' * n).encode(),
        lambda n: b"{" + b"[" * 5000 + b'"' * n,
    ],
)
def test_the_cost_of_depth_is_linear(make: Callable[[int], bytes]) -> None:
    def prepare(size: int) -> Callable[[], object]:
        line = make(size)
        return lambda: classify(line)

    assert growth(prepare, 30_000) < LINEAR


def test_the_cost_of_a_deep_line_with_an_endless_string_is_linear() -> None:
    def prepare(size: int) -> Callable[[], object]:
        line = b'{"a":' + b"[" * 5000 + b'"' + b'\\"' * size
        return lambda: classify(line)

    assert growth(prepare, 1500, tries=2) < LINEAR
