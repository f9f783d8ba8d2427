"""What is put into settings or taken out looks as if their writer had done it."""

from __future__ import annotations

import random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from acp_proxy.editors import edits
from acp_proxy.editors.jsonc import Node, parse
from tests.editors.settings_texts import VALUES, WORDS, render

ENTRY = {"a": "b"}
OBJECTS = st.dictionaries(WORDS.map("k{}".format), VALUES, max_size=4)


def parsed(text: str) -> Node:
    """Return the tree of a text that has a value."""
    root = parse(text)
    assert root is not None
    return root


def appended(text: str, key: str = "new", value: Any = ENTRY) -> str:
    root = parsed(text)
    changes = edits.append_member(text, root, key, value, edits.style_of(text, root))
    return edits.apply(text, changes)


def removed(text: str, index: int) -> str:
    root = parsed(text)
    assert root.members is not None
    return edits.apply(text, edits.remove_item(text, root.members, index))


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("{}", '{\n  "new": {\n    "a": "b"\n  }\n}'),
        ("{ }\n", '{\n  "new": {\n    "a": "b"\n  }\n}\n'),
        ("{ // why\n}", '{ // why\n  "new": {\n    "a": "b"\n  }\n}'),
        ('{"x": 1}', '{"x": 1, "new": { "a": "b" }}'),
        ('{"x": 1,}', '{"x": 1, "new": { "a": "b" },}'),
        ('{"x": /* one */ 1 /* end */}', '{"x": /* one */ 1, /* end */ "new": { "a": "b" }}'),
        (
            '{\n    "x": 1\n}\n',
            '{\n    "x": 1,\n    "new": {\n        "a": "b"\n    }\n}\n',
        ),
        (
            '{\n\t"x": 1, // one\n\t// two\n}',
            '{\n\t"x": 1, // one\n\t// two\n\t"new": {\n\t\t"a": "b"\n\t},\n}',
        ),
        (
            '{\n  "x": 1 // one\n}',
            '{\n  "x": 1, // one\n  "new": {\n    "a": "b"\n  }\n}',
        ),
        (
            '{\r\n  "x": 1\r\n}\r\n',
            '{\r\n  "x": 1,\r\n  "new": {\r\n    "a": "b"\r\n  }\r\n}\r\n',
        ),
        ('{\n  "x": 1 }', '{\n  "x": 1,\n  "new": {\n    "a": "b"\n  }\n}'),
    ],
)
def test_a_member_is_appended_in_the_writers_hand(before: str, after: str) -> None:
    assert appended(before) == after


@pytest.mark.parametrize(
    ("before", "index", "after"),
    [
        ('{"x": 1}', 0, "{}"),
        ('{"x": 1, "y": 2}', 0, '{"y": 2}'),
        ('{"x": 1, "y": 2}', 1, '{"x": 1}'),
        ('{\n  "x": 1,\n  "y": 2\n}', 0, '{\n  "y": 2\n}'),
        ('{\n  "x": 1,\n  "y": 2\n}', 1, '{\n  "x": 1\n}'),
        ('{\n  "x": 1,\n  "y": 2,\n}', 1, '{\n  "x": 1,\n}'),
        ('{\r\n  "x": 1,\r\n  "y": 2\r\n}', 1, '{\r\n  "x": 1\r\n}'),
        (
            '{\n  // of x\n  "x": 1, // after x\n  // of y\n  "y": 2\n}',
            1,
            '{\n  // of x\n  "x": 1 // after x\n  // of y\n}',
        ),
        ('{\n  "x": 1 /* c */, "y": 2\n}', 0, '{\n  /* c */ "y": 2\n}'),
        ('{\n  "x": 1, // mine\n  "y": 2\n}', 0, '{\n  // mine\n  "y": 2\n}'),
    ],
)
def test_a_member_is_taken_out_with_its_comma_and_line(before: str, index: int, after: str) -> None:
    assert removed(before, index) == after


@given(OBJECTS, VALUES, st.integers())
def test_an_appended_member_is_there_and_all_else_too(
    data: dict[str, Any], value: Any, seed: int
) -> None:
    text = render(data, random.Random(seed))

    assert repr(parsed(appended(text, "new", value)).data) == repr({**data, "new": value})


@given(OBJECTS.filter(bool), st.integers(), st.data())
def test_a_member_taken_out_is_gone_and_nothing_else(
    data: dict[str, Any], seed: int, draw: st.DataObject
) -> None:
    text = render(data, random.Random(seed))
    index = draw.draw(st.integers(0, len(data) - 1))
    rest = {key: value for at, (key, value) in enumerate(data.items()) if at != index}

    assert repr(parsed(removed(text, index)).data) == repr(rest)


@given(OBJECTS, st.integers())
def test_taking_out_what_was_appended_keeps_every_comment(data: dict[str, Any], seed: int) -> None:
    text = render(data, random.Random(seed))

    there = appended(text)
    back = removed(there, len(data))

    assert "".join(back.split()).replace(",", "") == "".join(text.split()).replace(",", "")


@given(st.lists(VALUES, max_size=4), st.lists(VALUES, min_size=1, max_size=3), st.integers())
def test_items_come_and_go_at_the_beginning(before: list[Any], new: list[Any], seed: int) -> None:
    chance = random.Random(seed)
    text = render(before, chance)
    changes = edits.prepend_items(text, parsed(text), [render(value, chance) for value in new])

    there = edits.apply(text, changes)
    back = edits.apply(there, edits.remove_first_items(parsed(there), len(new)))

    assert repr(parsed(there).data) == repr([*new, *before])
    assert repr(parsed(back).data) == repr(before)


def test_items_get_lines_of_their_own_where_others_have() -> None:
    text = '[\r\n    "a", // a\r\n    "b"\r\n]'

    there = edits.apply(text, edits.prepend_items(text, parsed(text), ['"x"', '"y"']))

    assert there == '[\r\n    "x",\r\n    "y",\r\n    "a", // a\r\n    "b"\r\n]'
    assert edits.apply(there, edits.remove_first_items(parsed(there), 2)) == text
