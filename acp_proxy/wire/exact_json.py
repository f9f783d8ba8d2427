"""JSON read without loss: what orjson would round, drop or refuse, found and kept.

Only values here; what they mean as messages is ``jsonrpc``'s.
"""

import json
import re
from typing import Any, Final, NoReturn

import orjson

WHITE: Final = b" \t\r\n"
"""The white space of JSON."""

# Where orjson's value may differ from the text although the members count the same: many digits
# (it rounds integers beyond 64 bits), exponents that underflow.
_ROUNDED = re.compile(rb"[0-9]{17}|[eE]-[0-9]{3}")
# Where counting `":` does not count the members of objects: see is_exact.
_UNCOUNTED = re.compile(rb'"[ \t\r\n]+:|\\u0022|\\\\"')


class ExactFloat(float):
    """A number with a fraction or an exponent, which remembers how it was written."""

    __slots__ = ("text",)

    text: str

    def __new__(cls, text: str) -> "ExactFloat":
        """Read ``text``; too large an exponent gives an infinity that still knows its text."""
        self = super().__new__(cls, text)
        self.text = text
        return self


def is_exact(raw: bytes, value: Any) -> bool:
    """Tell whether nothing was lost by orjson: no duplicate key, no rounded number, no id's text.

    Text that comes back the same is exact. Else the members are counted: each
    member of an object shows as ``":`` once, both in the text and in what orjson
    writes, except after an escaped quote (the same in both) and in the cases
    that _UNCOUNTED sends to the exact parser.
    """
    for message in value if type(value) is list else (value,):
        if type(message) is dict and type(message.get("id")) is float:
            return False
    try:
        again = orjson.dumps(value)
    except (orjson.JSONEncodeError, RecursionError):  # deeper than it writes
        return False
    if again == raw.rstrip(WHITE):
        return True
    if raw.count(b'":') != again.count(b'":') or _ROUNDED.search(raw):
        return False
    suspicious = b"\\" in raw or b" :" in raw or b"\t:" in raw or b"\r:" in raw
    return not (suspicious and _UNCOUNTED.search(raw))


def reject_constant(word: str) -> NoReturn:
    """Refuse NaN and the infinities, which Python's parser would take."""
    raise ValueError(f"{word} is not JSON")


def parse_exactly(text: str) -> tuple[Any, tuple[str, ...]]:
    """Return the exact value and its flags; ValueError when it is no JSON."""
    flags: set[str] = set()

    def pairs_to_dict(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        value = dict(pairs)
        if len(value) != len(pairs):
            flags.add("duplicate-key")
        return value

    def integer(digits: str) -> int | ExactFloat:
        try:
            number = int(digits)
        except ValueError:  # more digits than Python converts
            flags.add("big-number")
            return ExactFloat(digits)
        if not -(2**63) <= number < 2**64:
            flags.add("big-number")
        return number

    def fraction(digits: str) -> ExactFloat:
        number = ExactFloat(digits)
        if number in (float("inf"), float("-inf")):
            flags.add("big-number")
        return number

    value = json.loads(
        text,
        object_pairs_hook=pairs_to_dict,
        parse_int=integer,
        parse_float=fraction,
        parse_constant=reject_constant,
    )
    return value, tuple(sorted(flags))


def has_lone_surrogate(value: Any) -> bool:
    """Tell whether a text in it holds half of a surrogate pair, which no UTF-8 can."""
    try:
        json.dumps(value, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        return True
    except (ValueError, RecursionError):
        return False
    return False
