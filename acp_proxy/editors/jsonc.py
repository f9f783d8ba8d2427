"""JSON with comments and trailing commas, as a tree that knows where each part stands. Pure.

The text is never written again from the tree: whoever changes it cuts and pastes
at these places, so that all else stays as a person wrote it. No library fits: the
known ones need Node, take JSON5 for JSONC, or stop at a trailing comma.
"""

import json
import re
from dataclasses import dataclass, field
from typing import Any

_SPACE = re.compile(r"[ \t\r\n]*")
_COMMENT = re.compile(r"//[^\r\n]*|/\*.*?\*/", re.DOTALL)
_STRING = re.compile(r'"(?:[^"\\\x00-\x1f]++|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*+"')
_WORD = re.compile(r"true|false|null|-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?")
_DEEPEST = 200
BOM = "\ufeff"


class JsoncError(ValueError):
    """A text is not JSON with comments, or not of the shape that was expected.

    Attributes:
        what: What is wrong.
        line: Where, from 1.
        column: Where in that line, in characters from 1.

    """

    def __init__(self, text: str, at: int, what: str) -> None:
        self.what = what
        self.line = text.count("\n", 0, at) + 1
        self.column = at - (text.rfind("\n", 0, at) + 1) + 1
        super().__init__(f"line {self.line}, column {self.column}: {what}")


@dataclass(slots=True)
class Node:
    """A value: what it is, and where it stands.

    Attributes:
        start: Where it begins.
        end: Just after it.
        scalar: What a string, number, boolean or null means.
        members: Those of an object; None for other values.
        items: Those of an array; None for other values.

    """

    start: int
    end: int = 0
    scalar: Any = None
    members: "list[Member] | None" = None
    items: "list[Item] | None" = None

    @property
    def data(self) -> Any:
        """What it means, as Python has it; of equal keys the last counts."""
        if self.members is not None:
            return {member.key: member.value.data for member in self.members}
        if self.items is not None:
            return [item.value.data for item in self.items]
        return self.scalar


@dataclass(slots=True)
class Item:
    """A value in an array, or in an object with its key.

    Attributes:
        start: Where it begins: the value, or the key.
        value: The value.
        comma: Where the comma after it stands; None when there is none.

    """

    start: int
    value: Node
    comma: int | None = None


@dataclass(slots=True)
class Member(Item):
    """A key and its value."""

    key: str = field(kw_only=True)


def parse(text: str) -> Node | None:
    """Return the value of a text; None when there is nothing but space and comments in it.

    Raises:
        JsoncError: It is no JSON with comments.

    """
    scanner = _Scanner(text, at=1 if text.startswith(BOM) else 0)
    scanner.skip()
    if scanner.at == len(text):
        return None
    root = scanner.value(0)
    scanner.skip()
    if scanner.at < len(text):
        raise JsoncError(text, scanner.at, "there is more text after the end of the settings")
    return root


def comments_end(text: str, start: int, end: int) -> int:
    """Return where the last comment between two places ends; the first place if none stands there."""
    while start < end:
        begin = _SPACE.match(text, start).end()  # type: ignore[union-attr] # it always matches
        found = _COMMENT.match(text, begin)
        if found is None or begin >= end:
            break
        start = found.end()
    return start


def has_comment(text: str, start: int, end: int) -> bool:
    """Tell whether a comment stands between two places, of which neither is within a string."""
    while start < end:
        if _COMMENT.match(text, start):
            return True
        string = _STRING.match(text, start)
        start = start + 1 if string is None else string.end()
    return False


class _Scanner:
    def __init__(self, text: str, at: int) -> None:
        self.text = text
        self.at = at

    def skip(self) -> None:
        """Go to the next thing that is neither space nor comment."""
        while True:
            self.at = _SPACE.match(self.text, self.at).end()  # type: ignore[union-attr]
            found = _COMMENT.match(self.text, self.at)
            if found is None:
                break
            self.at = found.end()
        if self.text.startswith("/*", self.at):
            raise self._error("this comment has no end")

    def value(self, depth: int) -> Node:
        if depth > _DEEPEST:
            raise self._error(f"nested deeper than {_DEEPEST}")
        node = Node(self.at)
        character = self.text[self.at : self.at + 1]
        if character == "{":
            node.members = []
            self._list("}", node, depth)
        elif character == "[":
            node.items = []
            self._list("]", node, depth)
        elif character == '"':
            node.scalar = self._string()
        elif found := _WORD.match(self.text, self.at):
            self.at = found.end()
            node.scalar = json.loads(found[0])
        else:
            raise self._error("a value is missing here")
        node.end = self.at
        return node

    def _list(self, close: str, node: Node, depth: int) -> None:
        self.at += 1
        self.skip()
        while not self._takes(close):
            last = self._entry(node, depth + 1)
            self.skip()
            last.comma = self.at
            if not self._takes(","):
                last.comma = None
                if not self._takes(close):
                    raise self._error(f"a comma or {close} is missing here")
                return
            self.skip()

    def _entry(self, node: Node, depth: int) -> Item:
        start = self.at
        if node.items is not None:
            item = Item(start, self.value(depth))
            node.items.append(item)
            return item
        if not self.text.startswith('"', self.at):
            raise self._error('a "key" in double quotes is missing here')
        key = self._string()
        self.skip()
        if not self._takes(":"):
            raise self._error("a colon is missing here")
        self.skip()
        member = Member(start, self.value(depth), key=key)
        assert node.members is not None
        node.members.append(member)
        return member

    def _string(self) -> str:
        found = _STRING.match(self.text, self.at)
        if found is None:
            raise self._error(
                "this string has no end on its line, or something in it is not allowed"
            )
        self.at = found.end()
        text: str = json.loads(found[0])
        return text

    def _takes(self, character: str) -> bool:
        if self.text.startswith(character, self.at):
            self.at += 1
            return True
        return False

    def _error(self, what: str) -> JsoncError:
        return JsoncError(self.text, self.at, what)
