"""JSON as text whose strings can be changed in their place, all else byte for byte as it was.

A text is parsed to a tree that forgets nothing (``Members`` keeps duplicate keys, ``Number`` a
number's spelling); the scalars of the tree, keys included, stand in the order of the text's own
literals, so that what is decided of a value can be done to its literal.
"""

import json
import re
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator


class Edit(NamedTuple):
    """A piece of a text to be replaced.

    Attributes:
        start: Its first character.
        end: The character behind its last.
        text: What takes its place.
        values: How many secrets are blanked by that.
        why: What says that it is a secret.

    """

    start: int
    end: int
    text: str
    values: int
    why: str = ""


class Members(list[tuple[str, Any]]):
    """An object's members in order."""


class Number(str):
    """A number as it was written."""

    __slots__ = ()


_decoder = json.JSONDecoder(
    object_pairs_hook=Members,
    parse_int=Number,
    parse_float=Number,
    parse_constant=Number,
    strict=False,
)
_LITERAL = re.compile(r'"[^"\\]*+(?:\\.[^"\\]*+)*+"|-?[0-9][0-9.eE+-]*+|NaN|-?Infinity', re.DOTALL)
_ESCAPE = re.compile(
    r"\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|\\u[0-9a-fA-F]{4}|\\."
)


def parse(text: str, at: int = 0) -> tuple[Any, int] | None:
    """Return the tree of the JSON value at a place, and where it ends; None when there is none."""
    try:
        return _decoder.raw_decode(text, at)
    except (ValueError, RecursionError):
        return None


def literals(text: str, start: int, end: int) -> "Iterator[tuple[int, int]]":
    """Yield where the strings and numbers of a JSON text stand, quotes included."""
    return (match.span() for match in _LITERAL.finditer(text, start, end))


def in_literal(literal: str, edits: "Iterable[Edit]") -> "Iterator[Edit]":
    r"""Yield edits of a string's value as edits of its literal; other escapes stay.

    >>> list(in_literal(r'"a\u0062c"', [Edit(1, 3, "x", 1)]))
    [Edit(start=2, end=9, text='x', values=1, why='')]
    """
    escapes = [(match.start(), match.end()) for match in _ESCAPE.finditer(literal)]
    at = 0
    value_at = 0  # of the value, the character that the literal has at `at`
    done = 1
    for edit in edits:
        places = []
        for wanted in (edit.start, edit.end):
            while at < len(escapes) and value_at + escapes[at][0] - done < wanted:
                value_at += escapes[at][0] - done + 1
                done = escapes[at][1]
                at += 1
            places.append(done + wanted - value_at)
        yield Edit(places[0], places[1], json.dumps(edit.text)[1:-1], edit.values, edit.why)


def ordered(edits: "Iterable[Edit]") -> list[Edit]:
    """Return edits in order; of those that overlap one, of all that they cover."""
    found: list[Edit] = []
    for edit in sorted(edits, key=lambda edit: (edit.start, -edit.end, -edit.values)):
        if found and edit.start < found[-1].end:
            if edit.end > found[-1].end:
                found[-1] = found[-1]._replace(end=edit.end)
        else:
            found.append(edit)
    return found


def apply(text: str, edits: "Iterable[Edit]") -> str:
    """Return a text with its edits done; they are in order and do not overlap."""
    out: list[str] = []
    done = 0
    for edit in edits:
        out += (text[done : edit.start], edit.text)
        done = edit.end
    return "".join(out) + text[done:]
