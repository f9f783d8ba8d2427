"""JSON that says something about a connection: read only when it is not nested deep.

Headers of files, facts and notes are nested a few levels at most. What is nested deeper is refused
before anything recurses over it, wherever on the stack that would be.
"""

import json
import re
from typing import Any, Final

MAX_DEPTH: Final = 64
"""How many arrays and objects may lie within each other."""
_STRING: Final = re.compile(r'"(?:[^"\\]|\\.)*+"?', re.DOTALL)


def shallow_json(text: str | bytes) -> Any:
    """Return what a JSON text says.

    Raises:
        ValueError: It is no JSON text, or nested deeper than MAX_DEPTH.

    """
    if not isinstance(text, str | bytes):
        raise ValueError(f"a {type(text).__name__} is no JSON text")  # noqa: TRY004 - callers expect one error
    if isinstance(text, bytes):
        text = text.decode()
    if (depth := depth_of(text)) > MAX_DEPTH:
        raise ValueError(f"nested {depth} deep, {MAX_DEPTH} is the most")
    return json.loads(text)


def depth_of(text: str) -> int:
    """Return how many brackets are open at most at once, those in strings left out.

    Of what is no JSON the number is only a bound for how deep a parser would get.

    >>> depth_of('{"a": [1, "[[["]}')
    2
    """
    depth = deepest = 0
    for character in re.sub(r"[^\[\]{}]+", "", _STRING.sub("", text)):
        depth += 1 if character in "[{" else -1
        deepest = max(deepest, depth)
    return deepest
