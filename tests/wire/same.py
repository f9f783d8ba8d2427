"""When two JSON values are the same: also in type, in the sign of zero, and in every digit."""

from __future__ import annotations

import json
import math
from typing import Any, NoReturn


def same(a: object, b: object) -> bool:
    """Tell whether two values are the same JSON; ``False`` is not 0 and ``1`` is not ``1.0``.

    A subclass of float counts as float.
    """
    if isinstance(a, float) and isinstance(b, float):
        return a == b and math.copysign(1, a) == math.copysign(1, b)
    if type(a) is not type(b):
        return False
    if isinstance(a, list):
        assert isinstance(b, list)
        return len(a) == len(b) and all(same(x, y) for x, y in zip(a, b, strict=True))
    if isinstance(a, dict):
        assert isinstance(b, dict)
        return list(a) == list(b) and all(same(a[key], b[key]) for key in a)
    return a == b


def exact(text: str) -> Any:
    """Read JSON as exactly as Python can, and strictly: no NaN."""

    def refuse(word: str) -> NoReturn:
        raise ValueError(word)

    return json.loads(text, parse_constant=refuse)


def has_duplicate_key(text: str) -> bool:
    """Tell whether some object in JSON text has one key twice."""
    found = False

    def look(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        nonlocal found
        found = found or len(dict(pairs)) != len(pairs)
        return dict(pairs)

    json.loads(text, object_pairs_hook=look)
    return found


def scalars(value: Any) -> list[Any]:
    """Return every scalar in a value, keys included."""
    if isinstance(value, list):
        return [found for element in value for found in scalars(element)]
    if isinstance(value, dict):
        return [*value, *(found for member in value.values() for found in scalars(member))]
    return [value]
