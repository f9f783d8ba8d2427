"""JSON as text keeps every token, whatever is done to its layout; broken text does no harm."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from acp_proxy.wire.jsontext import compact, elements, members, pretty
from tests.strategies import json_texts, json_values, lines, message_lines, mutations, object_texts
from tests.wire.same import exact, same
from tests.wire.shape import LINEAR, growth

if TYPE_CHECKING:
    from collections.abc import Callable

BROKEN = [
    b"", b" ", b'"', b'"\\', b'"\\"', b'{"', b'{"a', b'{"a"', b'{"a":', b'{"a":1', b'{"a":1,', b"}", b"]",
    b"[", b"{", b",", b":", b"[}", b"{]", b"[]]", b"{}}", b"[] []", b"{} {}", b'{"a":1} x', b"x [1]",
    b"[1,]", b"[,]", b"{,}", b"{:}", b'{"a" 1}', b"{1:2}", b'{"a"::1}', b"\xff", b'"\xff"', b"\x00",
    b"\xef\xbb\xbf{}", b"]" * 5 + b"[" * 6, b"[1 2]", b"nul", b'"a""b"', b"\\", b"\x0b\x0c\x85",
]  # fmt: skip


def _without_white(raw: bytes) -> bytes:
    return b"".join(raw.split())


@settings(max_examples=80)
@given(json_texts())
def test_laying_out_changes_no_token(text: str) -> None:
    raw = text.encode()
    assert same(exact(pretty(raw).decode()), exact(text))
    assert same(exact(compact(raw).decode()), exact(text))
    assert compact(pretty(raw)) == compact(raw)
    assert _without_white(pretty(raw)) == _without_white(raw)
    assert pretty(compact(raw)) == pretty(raw)
    assert compact(compact(raw)) == compact(raw)
    assert pretty(pretty(raw)) == pretty(raw)


@given(json_values(), st.booleans(), st.sampled_from([0, 1, 2, 4]))
def test_the_layout_is_the_one_that_python_writes(
    value: object, ascii_only: bool, indent: int
) -> None:
    text = json.dumps(value, ensure_ascii=ascii_only)
    laid_out = json.dumps(value, ensure_ascii=ascii_only, indent=indent)
    assert pretty(text.encode(), indent).decode() == laid_out
    tight = json.dumps(value, ensure_ascii=ascii_only, separators=(",", ":"))
    assert compact(laid_out.encode()).decode() == tight


def test_numbers_escapes_and_keys_stay_as_they_were_written() -> None:
    raw = (
        b'{"id":1.10,"id":-0,"n":[12345678901234567890123,1e400,1E+2],'
        b'"s":"\\u0061\\/\\ud83d \\"{[,:]}\\\\",'
        b'"\xc3\xa9":"\xff \xe2\x80\xa8"}'
    )
    laid_out = pretty(raw)
    assert laid_out.split(b"\n") == [
        b"{",
        b'  "id": 1.10,',
        b'  "id": -0,',
        b'  "n": [',
        b"    12345678901234567890123,",
        b"    1e400,",
        b"    1E+2",
        b"  ],",
        b'  "s": "\\u0061\\/\\ud83d \\"{[,:]}\\\\",',
        b'  "\xc3\xa9": "\xff \xe2\x80\xa8"',
        b"}",
    ]
    assert compact(laid_out) == raw


def test_white_space_inside_strings_stays() -> None:
    raw = b'[ " a\tb \\n " , "\r" ]'
    assert compact(raw) == b'[" a\tb \\n ","\r"]'
    assert pretty(raw) == b'[\n  " a\tb \\n ",\n  "\r"\n]'


def test_brackets_with_nothing_in_them_stay_together() -> None:
    assert pretty(b"[ ] \r\n") == b"[]"
    assert pretty(b'{"a":{ },"b":[[ ]]}') == b'{\n  "a": {},\n  "b": [\n    []\n  ]\n}'


@pytest.mark.parametrize("raw", BROKEN)
def test_broken_text_loses_no_token(raw: bytes) -> None:
    assert _without_white(pretty(raw)) == _without_white(raw)
    assert _without_white(compact(raw)) == _without_white(raw)
    assert isinstance(members(raw), list)
    assert isinstance(elements(raw), list)


@settings(max_examples=80)
@given(st.one_of(st.binary(max_size=40), lines(), mutations(), message_lines()))
@example(b'"\\"\\"{')
def test_no_bytes_make_it_raise_or_lose_a_token(raw: bytes) -> None:
    assert _without_white(pretty(raw)) == _without_white(raw)
    assert _without_white(compact(raw)) == _without_white(raw)
    for key, value in members(raw):
        assert key in raw
        assert value in raw
    for element in elements(raw):
        assert element in raw


@settings(max_examples=80)
@given(object_texts())
def test_members_are_those_of_the_outermost_object_in_order(text: str) -> None:
    pairs: list[tuple[str, object]] = json.loads(text, object_pairs_hook=list)

    found = members(text.encode())

    assert [json.loads(key) for key, _ in found] == [key for key, _ in pairs]
    for (_, value), (_, expected) in zip(found, pairs, strict=True):
        assert value == value.strip()
        assert json.loads(value, object_pairs_hook=list) == expected
    assert elements(text.encode()) == []


@pytest.mark.slow
@settings(max_examples=80)
@given(st.lists(json_texts(), max_size=5), st.sampled_from(["", " ", "\t\r "]))
def test_elements_are_those_of_the_outermost_array_in_order(texts: list[str], white: str) -> None:
    text = f"{white}[{white}" + f"{white},{white}".join(texts) + f"{white}]{white}\n"
    assert elements(text.encode()) == [element.encode() for element in texts]
    assert members(text.encode()) == []


@given(json_values())
def test_what_is_no_object_has_no_members_and_no_array_no_elements(value: object) -> None:
    raw = json.dumps(value).encode()
    assert len(members(raw)) == (len(value) if isinstance(value, dict) else 0)
    assert len(elements(raw)) == (len(value) if isinstance(value, list) else 0)


@pytest.mark.parametrize(
    "raw",
    [
        b'{"a":1',
        b'{"a":1}}',
        b'{"a":1]',
        b'x{"a":1}',
        b'{"a":1}x',
        b'{"a" 1}',
        b"{a:1}",
        b'{"a:1}',
        b'{"a"}',
    ],
)
def test_text_that_does_not_balance_has_no_members(raw: bytes) -> None:
    assert members(raw) == []


def test_members_say_everything_about_keys_that_come_twice() -> None:
    assert members(b' {"a":1, "\\u0061" : 2 ,"a":{"a":3}}\r\n') == (
        [(b'"a"', b"1"), (b'"\\u0061"', b"2"), (b'"a"', b'{"a":3}')]
    )


@pytest.mark.parametrize("depth", [5000, 100_000])
def test_depth_is_no_limit(depth: int) -> None:
    deep = b"[" * depth + b"]" * depth
    assert compact(b" " + deep) == deep
    assert members(b'{"id":1.0,"params":' + deep + b"}") == [(b'"id"', b"1.0"), (b'"params"', deep)]
    assert elements(deep) == [deep[1:-1]]
    assert members(b'{"a":' * depth + b"1" + b"}" * depth)[0][0] == b'"a"'
    assert members(b'{"a":' * depth) == []
    assert elements(b"[" * depth) == []


def test_a_deep_layout_does_not_grow_with_the_square_of_the_depth() -> None:
    """Else a line of 200 kB would be laid out on 20 GB."""

    def size(depth: int) -> int:
        return len(pretty(b"[" * depth + b"1" + b"]" * depth))

    assert size(4000) / size(1000) < LINEAR
    deep = b"[" * 100_000 + b"]" * 100_000
    assert compact(pretty(deep)) == deep


SHAPES: dict[str, Callable[[int], bytes]] = {
    "members": lambda n: b'{"a":[1,{"b":"c"}],' + b'"k":1,' * n + b'"z":0}',
    "elements": lambda n: b"[" + b"1, " * n + b"2]",
    "depth": lambda n: b"[" * n + b"]" * n,
    "a long string": lambda n: b'["' + b"x\\n" * n + b'"]',
    "white space": lambda n: b"[" + b" " * n + b"]",
    "quotes": lambda n: b'"' * n,
    "closing brackets": lambda n: b"]" * n + b"[" * n,
    "rubbish": lambda n: b"x" * n,
    "backslashes": lambda n: b'"' + b"\\" * n,
    "an endless string": lambda n: b'["' + b"x\\n" * n,
}


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("function", [compact, members, elements, pretty])
def test_cost_is_linear(function: Callable[[bytes], object], shape: str) -> None:
    def prepare(size: int) -> Callable[[], object]:
        raw = SHAPES[shape](size)
        return lambda: function(raw)

    assert growth(prepare, 10_000) < LINEAR


@pytest.mark.parametrize("function", [compact, members, elements, pretty])
def test_the_cost_of_a_string_of_escaped_quotes_that_never_ends_is_linear(
    function: Callable[[bytes], object],
) -> None:
    def prepare(size: int) -> Callable[[], object]:
        raw = b'["' + b'\\"' * size
        return lambda: function(raw)

    assert growth(prepare, 1000, tries=2) < LINEAR
