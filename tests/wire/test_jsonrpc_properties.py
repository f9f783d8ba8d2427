"""Laws of classification, whatever hypothesis draws: it never raises, and never loses a digit."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import orjson
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from acp_proxy.wire.exact_json import MAX_EXACT
from acp_proxy.wire.jsonrpc import Kind, classify
from tests.strategies import (
    NUMBERS,
    STRINGS,
    WHITE,
    big_integers,
    integers,
    json_texts,
    json_values,
    lines,
    message_lines,
    mutations,
    object_texts,
    texts,
)
from tests.wire.same import exact, has_duplicate_key, same, scalars

if TYPE_CHECKING:
    from collections.abc import Callable

SURROGATES = st.sampled_from(["\ud83d", "a\udfff", "\ude00\ud83d"])
WRITERS: dict[str, Callable[[Any], bytes]] = {
    "compact": lambda value: json.dumps(value, separators=(",", ":")).encode(),
    "spaced": lambda value: json.dumps(value).encode(),
    "widely": lambda value: json.dumps(value, separators=(" , ", " \t: ")).encode(),
    "unescaped": lambda value: json.dumps(value, ensure_ascii=False).encode(),
    "orjson": orjson.dumps,
}


def _judge(raw: bytes) -> None:
    """Check what must hold for every line whatever."""
    messages = classify(raw)

    assert messages
    assert classify(raw) == messages or b"nan" in raw.lower()
    batch = [message.batch_index for message in messages]
    assert batch in ([None], list(range(len(messages))))
    for message in messages:
        assert type(message.kind) is Kind
        assert message.method is None or type(message.method) is str
        assert (message.method is not None) == (message.kind in (Kind.REQUEST, Kind.NOTIFICATION))
        assert message.id is not None or message.kind not in (Kind.REQUEST, Kind.RESULT, Kind.ERROR)
        assert (message.reason is not None) >= (message.kind is Kind.INVALID)
        assert len(set(message.flags)) == len(message.flags)
        assert all(flag.isascii() and " " not in flag for flag in message.flags)
        if message.id is not None:
            message.id.encode()
            json.loads(message.id)
        if message.reason is not None:
            message.reason.encode()


def _values(raw: bytes) -> Any:
    """Return the JSON of a line, put together again from its messages."""
    messages = classify(raw)
    if messages[0].batch_index is not None:
        return [message.value for message in messages]
    return messages[0].value


@settings(max_examples=120)
@given(st.binary(max_size=60))
def test_no_bytes_make_it_raise(raw: bytes) -> None:
    _judge(raw)


@settings(max_examples=120)
@given(st.one_of(mutations(), lines(), message_lines()))
@example(b'{"id":1,"method":"m"')
@example(b'{"id":-,"method":"m"}')
@example(b'"\\ud83d')
@example(b"\xef\xbb\xbf\xef\xbb\xbf{}")
@example(b"[]" * 3)
@example(b'{"a":1}' * 40)
@example(b'{"id":{"id":{"id":')
def test_no_line_that_resembles_json_makes_it_raise(raw: bytes) -> None:
    _judge(raw)
    _judge(raw + b"\r\n")
    _judge(b"\xef\xbb\xbf" + raw)


@settings(max_examples=80)
@given(json_values(), st.sampled_from(list(WRITERS)))
def test_any_value_comes_out_exactly(value: Any, writer: str) -> None:
    raw = WRITERS[writer](value)
    assert same(_values(raw), exact(raw.decode()))


@settings(max_examples=80)
@given(
    json_values(integers | big_integers, texts | SURROGATES),
    st.sampled_from(["compact", "spaced", "widely"]),
)
def test_any_value_comes_out_exactly_also_what_orjson_cannot_hold(value: Any, writer: str) -> None:
    raw = WRITERS[writer](value)
    assert same(_values(raw), value)


@settings(max_examples=120)
@given(json_texts())
@example(r'{"a":1,"a":"\u003a"}')
@example(r'{"a":1,"a":2,"b":"\u0022:"}')
@example('{"a" :1,"a":2}')
def test_however_json_is_written_its_value_is_exact(text: str) -> None:
    assert same(_values(text.encode()), exact(text))


@pytest.mark.slow
@settings(max_examples=120)
@given(object_texts())
@example(r'{"a":1,"a":2,"b":"\u0022\u003a"}')
@example(r'{"a":1,"a":"\u003a"}')
def test_flags_say_what_is_unusual_and_nothing_else(text: str) -> None:
    [message] = classify(f'{{"jsonrpc":"2.0","method":"m","params":{text}}}\n'.encode())

    assert message.kind is Kind.NOTIFICATION
    assert ("duplicate-key" in message.flags) == has_duplicate_key(text)
    assert set(message.flags) <= {"duplicate-key", "big-number"}
    big = any(
        (type(number) is int and not -(2**63) <= number < 2**64)
        or number in (float("inf"), float("-inf"))
        for number in scalars(exact(text))
    )
    if big or not has_duplicate_key(text):  # the number may stand in the member that was replaced
        assert ("big-number" in message.flags) == big


@settings(max_examples=80)
@given(json_values(integers, texts | SURROGATES))
def test_lone_surrogates_are_flagged_and_nothing_else_is(value: Any) -> None:
    raw = json.dumps({"jsonrpc": "2.0", "method": "m", "params": [value]}).encode()

    [message] = classify(raw)

    lone = any(
        type(text) is str and any("\ud800" <= character <= "\udfff" for character in text)
        for text in scalars(value)
    )
    assert message.flags == (("lone-surrogate",) if lone else ())


KEYS = st.sampled_from([
    ('"a"', '"a"'), ('"a"', r'"\u0061"'), ('""', '""'), (r'"\""', r'"\u0022"'), (r'"\\"', r'"\u005c"'),
    ('":"', r'"\u003A"'), (r'"\":"', r'"\u0022:"'), ('"é"', r'"\u00e9"'), ('"/"', r'"\/"'),
    ('"😀"', r'"\ud83d\uDE00"'), ('"id"', '"id"'),
])  # fmt: skip


@pytest.mark.slow
@settings(max_examples=120)
@given(
    KEYS, st.booleans(), st.lists(json_texts(), min_size=4, max_size=4), st.lists(WHITE, min_size=4)
)
def test_an_injected_duplicate_is_always_flagged(
    keys: tuple[str, str], swap: bool, values: list[str], white: list[str]
) -> None:
    one, two = reversed(keys) if swap else keys
    a, b, c, d = white[:4]
    members = f'{one}{a}:{b}{values[0]}{c},{d}"x":{values[1]},{b}{two}{d}:{a}{values[2]}'
    text = f'{{"jsonrpc":"2.0","method":"m","params":[{{"y":{{{members}}}}},{values[3]}]}}'

    [message] = classify(text.encode())

    assert "duplicate-key" in message.flags
    assert same(message.value, exact(text))


@given(NUMBERS | STRINGS | st.sampled_from(["null", "true", "false", "[]", "{}"]), WHITE, WHITE)
def test_an_id_is_its_text_for_numbers_and_canonical_for_strings(
    text: str, before: str, after: str
) -> None:
    [message] = classify(f'{{"jsonrpc":"2.0","id"{before}:{after}{text},"method":"m"}}'.encode())

    assert message.kind is Kind.REQUEST
    assert message.id is not None
    if text == "-0":  # equal to 0 in type and value
        assert message.id in ("0", "-0")
    elif text.startswith('"'):
        assert json.loads(message.id) == json.loads(text)
    else:
        assert message.id == text


@given(st.one_of(mutations(), lines(), message_lines()))
def test_how_numbers_are_kept_changes_nothing_else(raw: bytes) -> None:
    for plain, kept in zip(classify(raw), classify(raw, as_written=True), strict=True):
        assert plain._replace(value=None) == kept._replace(value=None)


@pytest.mark.slow
def test_a_long_line_with_a_fraction_is_as_well_checked_as_before() -> None:
    for fraction in (b"1.5", b"1.50", b"2"):
        for space in (b"", b" "):
            body = b'{"jsonrpc":"2.0","method":"m","params":{"n":%b%b,"s":"%b"}}'
            raw = body % (space, fraction, b"x" * MAX_EXACT)
            [plain], [kept] = classify(raw), classify(raw, as_written=True)
            assert plain._replace(value=None) == kept._replace(value=None)
