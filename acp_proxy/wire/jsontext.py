"""JSON as text: what can be said of it, or done to it, without losing a digit of it.

Works on the bytes that were sent, token by token, so that numbers, escapes,
duplicate keys and any depth of nesting survive. Nothing here builds values.
"""

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

_TOKEN = re.compile(
    rb'"[^"\\]*+(?:\\.[^"\\]*+)*+(?:"|\\?\Z)'  # a string; one that never ends goes to the end
    rb"|[{}\[\],:]"
    rb'|[^\s{}\[\],:"]++'  # a number, a word, or rubbish
    rb"|\s++",
    re.DOTALL,
)
_DEEPEST_INDENT = 40  # or the spaces before a text 100,000 deep would fill the memory
_OPENING = (b"{", b"[")
_CLOSING = (b"}", b"]")


def pretty(raw: bytes, indent: int = 2) -> bytes:
    r"""Return JSON text laid out on several lines; every token stays exactly as it was.

    Text that is no JSON comes back with its tokens laid out as far as they go.

    >>> print(pretty(b'{"id":1.10,"id":[],"n":[9007199254740993]}').decode())
    {
      "id": 1.10,
      "id": [],
      "n": [
        9007199254740993
      ]
    }
    """
    out: list[bytes] = []
    depth = 0
    opened = False  # the last token was an opening bracket

    def new_line() -> None:
        out.append(b"\n" + b" " * (indent * min(depth, _DEEPEST_INDENT)))

    for token in _tokens(raw):
        if token in _CLOSING:
            depth = max(depth - 1, 0)
            if not opened:
                new_line()
            opened = False
            out.append(token)
            continue
        if opened:
            new_line()
        opened = token in _OPENING
        out.append(token)
        if opened:
            depth += 1
        elif token == b",":
            new_line()
        elif token == b":":
            out.append(b" ")
    return b"".join(out)


def compact(raw: bytes) -> bytes:
    r"""Return JSON text without the white space between its tokens.

    >>> compact(b'{ "a" : [1.0, "b c"] }')
    b'{"a":[1.0,"b c"]}'
    """
    return b"".join(_tokens(raw))


def members(raw: bytes) -> list[tuple[bytes, bytes]]:
    r"""Return the members of the outermost object, as (key text, value text), in order.

    Empty when the text is no object whose brackets balance. Cost is linear in
    the text, whatever its depth.

    >>> members(b'{"id": 1.0, "params": {"a": [1, 2]}}')
    [(b'"id"', b'1.0'), (b'"params"', b'{"a": [1, 2]}')]
    """
    found: list[tuple[bytes, bytes]] = []
    for part in _parts(raw, b"{", b"}"):
        key = _TOKEN.match(part)
        if key is None or not key[0].startswith(b'"'):
            return []
        rest = part[key.end() :].lstrip()
        if not rest.startswith(b":"):
            return []
        found.append((key[0], rest[1:].strip()))
    return found


def elements(raw: bytes) -> list[bytes]:
    r"""Return the texts of the elements of the outermost array; empty when it is none.

    >>> elements(b'[{"id":1.0}, 2]')
    [b'{"id":1.0}', b'2']
    """
    return list(_parts(raw, b"[", b"]"))


def _parts(raw: bytes, opening: bytes, closing: bytes) -> list[bytes]:
    """Return what stands between the commas of the outermost bracket, stripped."""
    parts: list[bytes] = []
    depth = 0
    start = -1
    for match in _TOKEN.finditer(raw):
        token = match[0]
        if token in _OPENING:
            depth += 1
            if depth == 1:
                if token != opening or raw[: match.start()].strip():
                    return []
                start = match.end()
        elif token in _CLOSING:
            depth -= 1
            if depth == 0:
                if token != closing or raw[match.end() :].strip():
                    return []
                last = raw[start : match.start()].strip()
                return [*parts, last] if last or parts else []
        elif token == b"," and depth == 1:
            parts.append(raw[start : match.start()].strip())
            start = match.end()
    return []


def _tokens(raw: bytes) -> "Iterator[bytes]":
    for match in _TOKEN.finditer(raw):
        token = match[0]
        if not token.isspace():
            yield token
