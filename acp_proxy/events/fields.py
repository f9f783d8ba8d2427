"""Reading the fields of a payload: each as UNSET, None or a value of the right type, with notes."""

import binascii
from typing import Any, TypeGuard

from acp_proxy.events.event import UNSET, ArrayPatch, ObjectPatch, TextPatch, Unset

_LARGEST_SIDE = 65535
_BLOCK_KEYS = {
    "text": ("text",),
    "image": ("data", "mimeType"),
    "audio": ("data", "mimeType"),
    "resource_link": ("name", "uri"),
}  # the strings that a content block of a known type must have
_PLAN_KEYS: dict[str, tuple[str, type]] = {
    "items": ("entries", list),
    "file": ("uri", str),
    "markdown": ("content", str),
}  # what a plan of a known type must have
BLOCK_TYPES = frozenset({*_BLOCK_KEYS, "resource"})
"""Content blocks of both versions."""
ITEM_TYPES = frozenset({"content", "diff", "terminal"})
"""Items of a tool call's content in both versions."""


class Patch:
    """One payload, read field by field (docs/protocol.md: Patches).

    Attributes:
        payload: The object as it was sent.
        null: What a null means: None (v2: cleared) or UNSET (v1: not changed).
        notes: What was ignored or is odd so far.

    """

    __slots__ = ("notes", "null", "payload")

    def __init__(self, payload: dict[str, Any], null: Unset | None) -> None:
        self.payload = payload
        self.null = null
        self.notes: list[str] = []

    def text(self, key: str) -> TextPatch:
        """Return a string field; one of another type counts as omitted."""
        value = self.payload.get(key, UNSET)
        if value is UNSET or type(value) is str:
            return value
        if value is None:
            return self.null
        return self._malformed(key, "string")

    def array(self, key: str) -> ArrayPatch:
        """Return an array field; its items stay as sent, whatever they are (docs/protocol.md: Patches)."""
        value = self.payload.get(key, UNSET)
        if value is UNSET or type(value) is list:
            return value
        if value is None:
            return self.null
        return self._malformed(key, "array")

    def object(self, key: str) -> ObjectPatch:
        """Return an object field."""
        value = self.payload.get(key, UNSET)
        if value is UNSET or type(value) is dict:
            return value
        if value is None:
            return self.null
        return self._malformed(key, "object")

    def value(self, key: str) -> Any:
        """Return a field of any type."""
        value = self.payload.get(key, UNSET)
        return self.null if value is None else value

    def size(self, key: str = "size") -> ObjectPatch:
        """Return a terminal's size; a partial one, or one out of range, counts as omitted (docs/protocol.md: The agent's terminals)."""
        size = self.object(key)
        if type(size) is dict and not all(
            type(size.get(side)) is int and 1 <= size[side] <= _LARGEST_SIDE
            for side in ("cols", "rows")
        ):
            return self._malformed(key, "size")
        return size

    def known(self, key: str, values: frozenset[str]) -> TextPatch:
        """Return a field of a closed list; another string counts as omitted (v1, docs/protocol.md: Patches)."""
        value = self.text(key)
        if type(value) is str and value not in values:
            self.note(f'{key} "{value}" is unknown in this version: ignored')
            return UNSET
        return value

    def required(self, key: str) -> str | None:
        """Return a string without which the message means nothing; None, and a note, without."""
        value = self.payload.get(key)
        if type(value) is str:
            return value
        self.note(f"{key} is missing or no string: the message changes nothing")
        return None

    def items(self, key: str) -> ArrayPatch:
        """Return a tool call's content, noting the items that are malformed."""
        return self._judged(key, item_fault)

    def blocks(self, key: str) -> ArrayPatch:
        """Return content blocks, noting those that are malformed."""
        return self._judged(key, block_fault)

    def commands(self, key: str = "availableCommands") -> ArrayPatch:
        """Return available commands, noting those that are malformed."""
        return self._judged(key, _command_fault)

    def options(self, key: str = "configOptions") -> ArrayPatch:
        """Return configuration options of either version, noting those that are malformed."""
        return self._judged(key, _option_fault)

    def entries(self, key: str = "entries") -> ArrayPatch:
        """Return a plan's entries, noting those that are malformed."""
        return self._judged(key, _entry_fault)

    def nested(self, key: str, **wanted: tuple[type, ...]) -> ObjectPatch:
        """Return an object field; one without the members it needs counts as omitted (C.2)."""
        value = self.object(key)
        if type(value) is dict:
            for name, types in wanted.items():
                if type(value.get(name)) not in types:
                    self.note(f"{key} has no {name}: ignored")
                    return UNSET
        return value

    def locations(self) -> ArrayPatch:
        """Return a tool call's locations, noting those that are malformed (docs/protocol.md: Tool calls)."""
        return self._judged("locations", _location_fault)

    def _judged(self, key: str, judge: Any) -> ArrayPatch:
        value = self.array(key)
        if type(value) is list:
            for index, item in enumerate(value):
                if (fault := judge(item)) is not None:
                    self.note(f"{key}[{index}]: {fault}: kept as sent")
        return value

    def note(self, text: str) -> None:
        """Add a note."""
        self.notes.append(text)

    def _malformed(self, key: str, wanted: str) -> Unset:
        self.note(f"{key} is no {wanted}: ignored")
        return UNSET


def decode_base64(text: object) -> bytes | None:
    """Return the bytes of standard padded base64, None when it is something else (docs/protocol.md: The agent's terminals)."""
    if type(text) is not str:
        return None
    try:
        return binascii.a2b_base64(text, strict_mode=True)
    except ValueError:
        return None


def encode_text(text: str) -> bytes:
    """Return the text output of a v1 terminal as bytes."""
    return text.encode(errors="surrogatepass")


def block_fault(block: object) -> str | None:
    """Return what is wrong with a content block, None when nothing is; unknown types are not."""
    if type(block) is not dict or type(block.get("type")) is not str:
        return "no content block"
    kind = block["type"]
    for key in _BLOCK_KEYS.get(kind, ()):
        if type(block.get(key)) is not str:
            return f"{kind} without {key}"
    if kind == "resource" and type(block.get("resource")) is not dict:
        return "resource without resource"
    return None


def is_text(block: object) -> TypeGuard[dict[str, Any]]:
    """Tell whether a content block is a sound one of text, as almost all are."""
    return type(block) is dict and block.get("type") == "text" and type(block.get("text")) is str


def item_fault(item: object) -> str | None:
    """Return what is wrong with an item of a tool call's content, None when nothing is."""
    if type(item) is not dict or type(item.get("type")) is not str:
        return "no content item"
    kind = item["type"]
    if kind == "content":
        return block_fault(item.get("content"))
    if kind == "terminal" and type(item.get("terminalId")) is not str:
        return "terminal without terminalId"
    if kind == "diff" and not (
        type(item.get("changes")) is list  # v2
        or (type(item.get("path")) is str and type(item.get("newText")) is str)
    ):
        return "diff with neither changes nor path and newText"
    return None


def plan_fault(plan: dict[str, Any]) -> str | None:
    """Return what is wrong with the plan of an update, None when nothing is; unknown types are not."""
    kind = plan.get("type")
    if type(plan.get("planId")) is not str or type(kind) is not str:
        return "plan without planId or type"
    key, wanted = _PLAN_KEYS.get(kind, ("type", str))
    return None if type(plan.get(key)) is wanted else f"{kind} without {key}"


def _command_fault(command: object) -> str | None:
    return _lacks(command, "name", "description")


def _option_fault(option: object) -> str | None:
    if type(option) is dict and type(option.get("configId")) is str:  # version 2
        return _lacks(option, "name")
    return _lacks(option, "id", "name")


def _entry_fault(entry: object) -> str | None:
    return _lacks(entry, "content", "priority", "status")


def _lacks(thing: object, *keys: str) -> str | None:
    """Return which of the strings that it must have an object lacks."""
    if type(thing) is not dict:
        return "no object"
    for key in keys:
        if type(thing.get(key)) is not str:
            return f"without {key}"
    return None


def _location_fault(location: object) -> str | None:
    if type(location) is not dict or type(location.get("path")) is not str:
        return "no location"
    line = location.get("line")
    if line is not None and (type(line) is not int or line < 1):
        return "its line counts from 1"
    return None
