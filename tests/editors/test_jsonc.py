"""JSON with comments is read as what it means, and every part is found where it stands."""

from __future__ import annotations

import contextlib
import json
import random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from acp_proxy.editors.jsonc import JsoncError, Node, comments_end, parse
from tests.editors.settings_texts import VALUES, render


@given(VALUES, st.integers())
def test_comments_and_commas_change_nothing_in_what_is_meant(value: Any, seed: int) -> None:
    root = parse(render(value, random.Random(seed)))

    assert root is not None
    assert json.dumps(root.data) == json.dumps(value)


@given(VALUES, st.integers())
def test_each_part_stands_where_it_is_said_to(value: Any, seed: int) -> None:
    text = render(value, random.Random(seed))

    def look(node: Node) -> None:
        again = parse(text[node.start : node.end])
        assert again is not None
        assert json.dumps(again.data) == json.dumps(node.data)
        for part in [*(node.members or ()), *(node.items or ())]:
            assert part.comma is None or text[part.comma] == ","
            look(part.value)
        for member in node.members or ():
            assert text[member.start] == '"'

    root = parse(text)
    assert root is not None
    look(root)


@pytest.mark.parametrize("text", ["", "\ufeff", " \n", "// only this", "/* and */ // that\n"])
def test_nothing_but_comments_is_nothing(text: str) -> None:
    assert parse(text) is None


@pytest.mark.parametrize(
    ("text", "line", "column", "what"),
    [
        ('{"a": 1', 1, 8, "a comma or } is missing"),
        ('{\n  "a": 1\n  "b": 2\n}', 3, 3, "a comma or } is missing"),
        ('{\r\n  "a": tru\r\n}', 2, 8, "a value is missing"),
        ("{a: 1}", 1, 2, 'a "key" in double quotes'),
        ("{'a': 1}", 1, 2, 'a "key" in double quotes'),
        ('{"a" 1}', 1, 6, "a colon is missing"),
        ('{"a": "x\ny"}', 1, 7, "this string has no end"),
        ('{"a": "\\x"}', 1, 7, "this string has no end"),
        ('{"a": 1} {}', 1, 10, "there is more text"),
        ("[1,,2]", 1, 4, "a value is missing"),
        ("[,]", 1, 2, "a value is missing"),
        ("{,}", 1, 2, 'a "key" in double quotes'),
        ("/* no end", 1, 1, "this comment has no end"),
        ('{"a": 1 /* no end }', 1, 9, "this comment has no end"),
        ("NaN", 1, 1, "a value is missing"),
        ("[01]", 1, 3, "a comma or ] is missing"),
        ("[" * 300, 1, 202, "nested deeper than 200"),
        ("# no", 1, 1, "a value is missing"),
    ],
)
def test_what_is_wrong_is_told_with_its_place(text: str, line: int, column: int, what: str) -> None:
    with pytest.raises(JsoncError) as raised:
        parse(text)

    assert (raised.value.line, raised.value.column) == (line, column)
    assert what in str(raised.value)


@given(st.text('{}[]",:/*\\ \n1tn', max_size=30))
def test_nothing_else_is_ever_raised(text: str) -> None:
    with contextlib.suppress(JsoncError):
        parse(text)


def test_a_long_string_takes_no_longer_than_it_is() -> None:
    word = "a\\\\" * 300_000

    root = parse(f'{{"a": "{word}"}}')
    with pytest.raises(JsoncError):
        parse(f'{{"a": "{word}')

    assert root is not None
    assert len(root.data["a"]) == 600_000


def test_the_end_of_comments_is_found() -> None:
    text = "1 /* a */ // b\n  , "

    assert text[: comments_end(text, 1, len(text))] == "1 /* a */ // b"
    assert comments_end("1  }", 1, 3) == 1
