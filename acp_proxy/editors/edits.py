"""Cuts and pastes in JSON with comments that keep the hand of whoever wrote it. Pure.

Indentation, line ends, comments and the habit of trailing commas are taken from
what stands around the place.
"""

import re
from typing import TYPE_CHECKING, Any, NamedTuple

from acp_proxy.editors.jsonc import comments_end
from acp_proxy.editors.quoting import json_layout, json_string

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from acp_proxy.editors.jsonc import Item, Node

_UNIT = "  "
_BLANK = re.compile(r"[ \t]*")
_REST_OF_LINE = re.compile(r"[ \t]*(?=\r?\n|\Z)")


class Edit(NamedTuple):
    """A piece of text to be replaced."""

    start: int
    end: int
    text: str


def apply(text: str, edits: "Iterable[Edit]") -> str:
    """Return a text with edits made, which must not overlap; those at one place in their order."""
    parts: list[str] = []
    at = 0
    for edit in sorted(edits, key=lambda edit: edit.start):
        assert edit.start >= at, "edits overlap"
        parts += [text[at : edit.start], edit.text]
        at = edit.end
    return "".join([*parts, text[at:]])


class Style(NamedTuple):
    """How a file is laid out.

    Attributes:
        newline: What ends its lines.
        unit: What a level is indented by.

    """

    newline: str
    unit: str


def style_of(text: str, root: "Node | None") -> Style:
    """Return how a file is laid out; two spaces where it does not tell."""
    newline = "\r\n" if "\r\n" in text else "\n"
    unit = _UNIT
    if root is not None and root.members:
        unit = _indent_before(text, root.members[0].start) or _UNIT
    return Style(newline, unit)


def append_member(text: str, node: "Node", key: str, value: Any, style: Style) -> list[Edit]:
    """Return the edits that put a member at the end of an object."""
    assert node.members is not None
    last = node.members[-1] if node.members else None
    begin = node.start + 1 if last is None else last.value.end
    close = node.end - 1
    after = comments_end(
        text, begin if last is None or last.comma is None else last.comma + 1, close
    )
    is_spread = last is None or "\n" in text[node.start : node.members[0].start]
    is_spread = is_spread or "\n" in text[begin:close]
    edits = []
    if last is not None and last.comma is None:
        edits.append(Edit(begin, begin, ","))
    trailing = "," if last is not None and last.comma is not None else ""
    if not is_spread:
        pasted = f" {json_string(key)}: {json_layout(value, newline=' ', unit='')}{trailing}"
        return [*edits, Edit(after, after, pasted)]
    outer = _line_indent(text, node.start)
    inner = outer + style.unit
    if last is not None:
        inner = _indent_before(text, node.members[0].start) or inner
    layout = json_layout(value, inner, style.unit, style.newline)
    pasted = f"{style.newline}{inner}{json_string(key)}: {layout}{trailing}"
    if "\n" in text[after:close]:
        return [*edits, Edit(after, after, pasted)]
    return [*edits, Edit(after, close, f"{pasted}{style.newline}{outer}")]


def insert_member_after(
    text: str, before: "Item", key: str, value: str, style: Style
) -> list[Edit]:
    """Return the edit that puts a member, whose value is JSON already, behind another one."""
    own_line = _indent_before(text, before.start)
    gap = " " if own_line is None else style.newline + own_line
    end = before.value.end
    return [Edit(end, end, f",{gap}{json_string(key)}: {value}")]


def remove_item(text: str, entries: "Sequence[Item]", index: int) -> list[Edit]:
    """Return the edits that take a member or item out, with its comma and what is left of its line."""
    entry = entries[index]
    end = entry.value.end
    edits = []
    if entry.comma is not None:
        between = text[end : entry.comma]
        if between.strip():  # a comment stands before the comma: it stays
            edits.append(Edit(entry.comma, entry.comma + 1, ""))
        else:
            end = entry.comma + 1
    elif index and (comma := entries[index - 1].comma) is not None:
        edits.append(Edit(comma, comma + 1, ""))
    start = entry.start
    before = _indent_before(text, start)
    rest = _REST_OF_LINE.match(text, end)
    if before is not None and rest is not None:  # nothing else stands on its lines
        start -= len(before)
        start -= 2 if text.endswith("\r\n", 0, start) else 1
        end = rest.end()
    elif index + 1 < len(entries):
        end += len(_BLANK.match(text, end)[0])  # type: ignore[index] # it always matches
    else:
        start -= len(text[:start]) - len(text[:start].rstrip(" \t"))
    return [*edits, Edit(start, end, "")]


def prepend_items(text: str, node: "Node", values: "Sequence[str]") -> list[Edit]:
    """Return the edit that puts values, written as JSON already, at the beginning of an array."""
    assert node.items is not None
    if not node.items:
        return [Edit(node.start + 1, node.start + 1, ", ".join(values))]
    first = node.items[0].start
    gap = ", "
    if "\n" in text[node.start : first]:
        own_line = _indent_before(text, first)
        newline = "\r\n" if "\r\n" in text[node.start : first] else "\n"
        gap = ", " if own_line is None else f",{newline}{own_line}"
    return [Edit(first, first, "".join(value + gap for value in values))]


def remove_first_items(node: "Node", count: int) -> list[Edit]:
    """Return the edit that takes so many values off the beginning of an array."""
    assert node.items is not None
    start = node.items[0].start
    if count < len(node.items):
        return [Edit(start, node.items[count].start, "")]
    last = node.items[-1]
    return [Edit(start, last.value.end if last.comma is None else last.comma + 1, "")]


def _indent_before(text: str, at: int) -> str | None:
    """Return what stands before a place on its line if that is only space; else None."""
    begin = text.rfind("\n", 0, at) + 1
    before = text[begin:at]
    return before if begin and not before.strip(" \t") else None


def _line_indent(text: str, at: int) -> str:
    """Return the indentation of the line on which a place is."""
    begin = text.rfind("\n", 0, at) + 1
    return _BLANK.match(text, begin)[0]  # type: ignore[index] # it always matches
