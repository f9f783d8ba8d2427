"""JSON read without loss: what orjson would round, drop or refuse, found and kept.

Only values here; what they mean as messages is ``jsonrpc``'s. The parser keeps its
own stack, so that what it says never depends on how deep its caller is: the
recorder and ``verify`` must say the same.
"""

import json
import re
from typing import Any, Final, NamedTuple, NoReturn

import orjson

WHITE: Final = b" \t\r\n"
"""The white space of JSON."""
MAX_DEPTH: Final = 1024
"""What is nested deeper is not parsed: orjson's limit."""
MAX_EXACT: Final = 16 * 1024 * 1024
"""Longer texts are not read exactly: that takes up to a second per MiB."""

# Where orjson's value may differ from the text although the members count the same: integers
# beyond 64 bits, which it rounds, and exponents that underflow.
_ROUNDED = re.compile(rb"[0-9]{20}|-[0-9]{19}|[eE]-[0-9]{3}")
# Where a number may be spelled in another way than orjson would write it: 1.50, 1e2, -0.
_SPELLED = re.compile(rb"[0-9][.eE]|-0")
# Where counting `":` does not count the members of objects: see is_exact.
_UNCOUNTED = re.compile(rb'"[ \t\r\n]+:|\\u00(?:22|3[aA])|\\\\"')

_TOKEN = re.compile(
    rb"(?P<punctuation>[{}\[\],:])"
    rb'|(?P<plain>"[^"\\\x00-\x1f]*+")'
    rb'|(?P<escaped>"(?:[^"\\\x00-\x1f]++|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*+")'
    rb"|(?P<number>-?(?:0|[1-9][0-9]*+)(?P<fraction>(?:\.[0-9]++)?(?:[eE][+-]?[0-9]++)?))"
    rb"|(?P<word>true|false|null)"
)
_GOOD_TEXT = re.compile(rb'"(?:[^"\\\x00-\x1f]++|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*+')
_WORD = re.compile(rb"-?[A-Za-z]{1,20}")
_SURROGATE = re.compile(rb"\\u[dD][89a-fA-F]")
_SPACE = re.compile(rb"[ \t\r\n]*+")
_WORDS = {b"true": True, b"false": False, b"null": None}


class NotJSONError(ValueError):
    """The text is no JSON; ``position`` is the byte where that shows."""

    def __init__(self, reason: str, position: int) -> None:
        super().__init__(f"{reason} at byte {position}")
        self.reason = reason
        self.position = position


class TooDeepError(ValueError):
    """The text is nested deeper than MAX_DEPTH; ``position`` is the byte where that shows."""

    def __init__(self, position: int) -> None:
        super().__init__(f"nested deeper than {MAX_DEPTH} at byte {position}")
        self.position = position


class ExactFloat(float):
    """A number with a fraction or an exponent, which remembers how it was written."""

    __slots__ = ("text",)

    text: str

    def __new__(cls, text: str) -> "ExactFloat":
        """Read ``text``; too large an exponent gives an infinity that still knows its text."""
        self = super().__new__(cls, text)
        self.text = text
        return self


class Parsed(NamedTuple):
    """What stands in a text.

    Attributes:
        value: The value; numbers with a fraction or an exponent are ExactFloats.
        flags: ``duplicate-key``, ``big-number``, ``lone-surrogate``, in order of the alphabet.
        end: Where in the text it ends.

    """

    value: Any
    flags: tuple[str, ...]
    end: int


def is_exact(raw: bytes, value: Any, *, as_written: bool = False) -> bool:
    """Tell whether nothing was lost by orjson: no duplicate key, no rounded number, no id's text.

    With ``as_written`` also no number's spelling; then "no" may be said in vain.

    Text that comes back the same is exact. Else the members are counted: each
    member of an object shows as ``":`` once, both in the text and in what orjson
    writes, except after an escaped quote (the same in both) and in the cases
    that _UNCOUNTED sends to the exact parser.
    """
    for message in value if type(value) is list else (value,):
        if type(message) is dict and type(message.get("id")) in (float, list, dict):
            return False
    try:
        again = orjson.dumps(value)
    except (orjson.JSONEncodeError, RecursionError):  # deeper than it writes
        return False
    if again == raw.rstrip(WHITE):
        return True
    if as_written and _SPELLED.search(raw):
        return False
    if raw.count(b'":') != again.count(b'":') or _ROUNDED.search(raw):
        return False
    suspicious = b"\\" in raw or b" :" in raw or b"\t:" in raw or b"\r:" in raw
    return not (suspicious and _UNCOUNTED.search(raw))


def parse_exactly(raw: bytes) -> Parsed:
    """Return the value of a text that is JSON and nothing else but white space.

    Raises:
        NotJSONError: It is not.
        TooDeepError: It is, perhaps, but nested too deep.

    """
    parsed = parse_beginning(raw, 0)
    rest = _skip_space(raw, parsed.end)
    if rest != len(raw):
        raise NotJSONError("text follows", rest)
    return parsed


def parse_beginning(raw: bytes, at: int) -> Parsed:
    """Return the value that stands in a text from ``at`` on, whatever follows it.

    Some µs per token: for what orjson cannot say only. Raises as parse_exactly.
    """
    return _Parser(raw, at).parse()


def write(value: Any) -> str:
    """Return a parsed value as JSON text, its numbers as they were written; any depth will do."""
    out: list[str] = []
    todo: list[tuple[bool, Any]] = [(False, value)]  # (is it text already, what)
    while todo:
        is_text, item = todo.pop()
        if is_text:
            out.append(item)
        elif isinstance(item, list):
            parts = [[(False, element)] for element in item]
            todo += _reversed_parts("[", parts, "]")
        elif isinstance(item, dict):
            parts = [[(True, write(key) + ":"), (False, member)] for key, member in item.items()]
            todo += _reversed_parts("{", parts, "}")
        else:
            out.append(_write_scalar(item))
    return "".join(out)


def _reversed_parts(
    opening: str, parts: list[list[tuple[bool, Any]]], closing: str
) -> list[tuple[bool, Any]]:
    whole: list[tuple[bool, Any]] = [(True, opening)]
    for at, part in enumerate(parts):
        whole += [(True, ","), *part] if at else part
    return [*whole, (True, closing)][::-1]


def _write_scalar(value: Any) -> str:
    if isinstance(value, ExactFloat):
        return value.text
    try:
        return orjson.dumps(value).decode()
    except orjson.JSONEncodeError:  # an integer beyond 64 bits, half of a surrogate pair
        return json.dumps(value)


def _skip_space(raw: bytes, at: int) -> int:
    match = _SPACE.match(raw, at)
    return at if match is None else match.end()


class _Parser:
    """One text on its way to a value."""

    def __init__(self, raw: bytes, at: int) -> None:
        self._raw = raw
        self._at = at
        self._flags: set[str] = set()
        self._stack: list[dict[str, Any] | list[Any]] = []
        self._keys: list[str] = []  # of the objects on the stack, the member that is being read

    def parse(self) -> Parsed:
        """Read one value."""
        while True:
            value = self._begin_value()
            while self._stack:  # it is part of something
                if not self._end_value(value):
                    break
                value = self._stack.pop()
            else:
                return Parsed(value, tuple(sorted(self._flags)), self._at)

    def _begin_value(self) -> Any:
        """Read up to and including the next scalar or empty container, opening what is before it."""
        while True:
            match = self._next("a value")
            kind = match.lastgroup
            if kind == "punctuation":
                if match[0] == b"{":
                    if self._opens({}, b"}"):
                        return {}
                    self._keys.append(self._key())
                elif match[0] == b"[":
                    if self._opens([], b"]"):
                        return []
                else:
                    self._fail("a value", match.start())
            elif kind in ("plain", "escaped"):
                return self._text(match)
            elif kind == "word":
                return _WORDS[match[0]]
            else:
                return self._number(match)

    def _end_value(self, value: Any) -> bool:
        """Put a value into what it is part of; tell whether that is complete then."""
        container = self._stack[-1]
        if isinstance(container, list):
            container.append(value)
            closing = b"]"
        else:
            key = self._keys.pop()
            if key in container:
                self._flags.add("duplicate-key")
            container[key] = value
            closing = b"}"
        match = self._next("a comma or the end")
        if match[0] == closing:
            return True
        if match[0] != b",":
            self._fail(f"',' or '{closing.decode()}'", match.start())
        if isinstance(container, dict):
            self._keys.append(self._key())
        return False

    def _opens(self, container: dict[str, Any] | list[Any], closing: bytes) -> bool:
        """Begin a container; tell whether it is empty and so has ended already."""
        if len(self._stack) >= MAX_DEPTH:
            raise TooDeepError(self._at)
        at = _skip_space(self._raw, self._at)
        if self._raw[at : at + 1] == closing:
            self._at = at + 1
            return True
        self._stack.append(container)
        return False

    def _key(self) -> str:
        match = self._next("a key")
        if match.lastgroup not in ("plain", "escaped"):
            self._fail("a key", match.start())
        key = self._text(match)
        colon = self._next("':'")
        if colon[0] != b":":
            self._fail("':'", colon.start())
        return key

    def _next(self, expected: str) -> re.Match[bytes]:
        at = _skip_space(self._raw, self._at)
        match = _TOKEN.match(self._raw, at)
        if match is None:
            self._fail(expected, at)
        self._at = match.end()
        return match

    def _text(self, match: re.Match[bytes]) -> str:
        token = match[0]
        try:
            text = token.decode()
        except UnicodeDecodeError as error:
            byte = token[error.start]
            reason = f"a byte (0x{byte:02x}) that is not UTF-8"
            raise NotJSONError(reason, match.start() + error.start) from error
        if match.lastgroup == "plain":
            return text[1:-1]
        value: str = json.loads(text)
        if _SURROGATE.search(token):
            try:
                value.encode()
            except UnicodeEncodeError:
                self._flags.add("lone-surrogate")
        return value

    def _number(self, match: re.Match[bytes]) -> int | ExactFloat:
        text = match[0].decode()
        if not match["fraction"]:
            try:
                number = int(text)
            except ValueError:  # more digits than Python converts
                self._flags.add("big-number")
                return ExactFloat(text)
            if not -(2**63) <= number < 2**64:
                self._flags.add("big-number")
            return number
        fraction = ExactFloat(text)
        if fraction in (float("inf"), float("-inf")):
            self._flags.add("big-number")
        return fraction

    def _fail(self, expected: str, at: int) -> NoReturn:
        if at >= len(self._raw):
            raise NotJSONError(f"the text ends where {expected} should be,", at)
        text = _GOOD_TEXT.match(self._raw, at)
        if text is not None:
            end = text.end()
            if end == len(self._raw):
                raise NotJSONError("a string that does not end", at)
            wrong = "wrong escape" if self._raw[end : end + 1] == b"\\" else "control character"
            raise NotJSONError(f"a {wrong} in a string", end)
        word = _WORD.match(self._raw, at)
        if word is not None:
            raise NotJSONError(f"{word[0].decode()} is not JSON", at)
        raise NotJSONError(f"{expected} should be", at)
