"""The secrets of a connection that were seen once, found again wherever they stand.

A value is looked for as it is, and as it stands in other writing: escaped in JSON, in an
address, in base64, and as the bytes of its UTF-8.
"""

import base64
import json
from typing import TYPE_CHECKING
from urllib.parse import quote

from acp_proxy.redaction.names import is_memorable
from acp_proxy.redaction.shapes import Span

if TYPE_CHECKING:
    from collections.abc import Iterator

MAX_KNOWN = 1000
"""So many values of a connection are looked for, the first ones; the cost grows with them."""
_MAX_LENGTH = 16 * 1024
_MIN_BASE64 = 8
_ODD = "surrogatepass"


class Known:
    """Secrets seen so far; grows only."""

    __slots__ = ("_raw", "_texts", "_values")

    def __init__(self) -> None:
        self._values: set[str] = set()
        self._texts: dict[str, None] = {}  # each as it may stand in text
        self._raw: dict[bytes, None] = {}  # and as that may stand in a frame

    def __len__(self) -> int:
        return len(self._values)

    def add(self, value: str) -> None:
        """Remember a secret if it is so much its own that it is one wherever it stands."""
        if (
            value in self._values
            or len(self._values) >= MAX_KNOWN
            or len(value) > _MAX_LENGTH
            or not is_memorable(value)
        ):
            return
        self._values.add(value)
        for text in _writings(value):
            self._texts[text] = None
            self._raw[json.dumps(text)[1:-1].encode()] = None
            self._raw[json.dumps(text, ensure_ascii=False)[1:-1].encode(errors=_ODD)] = None
            self._raw[text.encode(errors=_ODD)] = None

    def may_be_in(self, flattened: bytes) -> bool:
        """Tell whether one of them may stand in a frame's bytes, as ``prefilter.flat`` gives them."""
        return any(map(flattened.__contains__, self._raw))

    def find(self, text: str) -> "Iterator[Span]":
        """Yield where one of them stands."""
        for known in self._texts:
            at = text.find(known)
            while at >= 0:
                yield Span(at, at + len(known), is_open=False)
                at = text.find(known, at + len(known))


def _writings(value: str) -> "Iterator[str]":
    yield value
    yield json.dumps(value)[1:-1]
    yield json.dumps(value, ensure_ascii=False)[1:-1]
    encoded = value.encode(errors=_ODD)
    yield encoded.decode("latin-1")
    yield quote(encoded, safe="")
    if len(encoded) >= _MIN_BASE64:
        text = base64.b64encode(encoded).decode()
        yield text[: len(encoded) * 8 // 6]  # what does not depend on what follows
