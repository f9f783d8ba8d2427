"""The secrets of a connection that were seen once or are named by rules, found wherever they stand.

A value is looked for as it is, and as it stands in other writing: escaped in JSON, in an
address, in base64, and as the bytes of its UTF-8.
"""

import base64
import json
from typing import TYPE_CHECKING
from urllib.parse import quote

from acp_proxy.redaction.names import is_memorable
from acp_proxy.redaction.rules import NO_RULES, Rules
from acp_proxy.redaction.shapes import Span

if TYPE_CHECKING:
    from collections.abc import Iterator

MAX_KNOWN = 1000
"""So many values of a connection are looked for, the first ones; the cost grows with them."""
_MAX_LENGTH = 1024
_MIN_BASE64 = 8
_MIN_PIECE = 8  # of a secret at the edge of a text
_ODD = "surrogatepass"


class Known:
    """Secrets seen so far; grows only.

    Attributes:
        rules: What somebody wants blanked beside.

    """

    __slots__ = ("_ends", "_texts", "_values", "rules")

    def __init__(self, rules: Rules = NO_RULES) -> None:
        self.rules = rules
        self._values: set[str] = set()
        self._texts: dict[str, None] = {}  # each as it may stand in text
        self._ends: dict[bytes, None] = {}  # the ends of that as they may stand in a frame
        for text in rules.texts:
            self._look_for(text)

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
        self._look_for(value)

    def _look_for(self, value: str) -> None:
        for text in _writings(value):
            self._texts[text] = None
            for raw in (
                json.dumps(text)[1:-1].encode(),
                json.dumps(text, ensure_ascii=False)[1:-1].encode(errors=_ODD),
                text.encode(errors=_ODD),
            ):
                self._ends[raw[:_MIN_PIECE]] = self._ends[raw[-_MIN_PIECE:]] = None

    def may_be_in(self, flattened: bytes) -> bool:
        """Tell whether one of them may stand in a frame's bytes, as ``prefilter.flat`` gives them."""
        return any(map(flattened.__contains__, self._ends)) or self.rules.may_be_in(flattened)

    def find(self, text: str) -> "Iterator[Span]":
        """Yield where one of them stands, and where a text begins or ends within one."""
        for known in self._texts:
            at = text.find(known)
            while at >= 0:
                yield Span(at, at + len(known), is_open=False)
                at = text.find(known, at + len(known))
            if len(known) > _MIN_PIECE:
                yield from _at_edges(known, text)
        yield from self.rules.find(text)


def _at_edges(known: str, text: str) -> "Iterator[Span]":
    """Yield what a text that was cut off has of a secret at its beginning and its end."""
    last = text.rfind(known[:_MIN_PIECE], max(len(text) - len(known) + 1, 0))
    if last >= 0 and known.startswith(text[last:]):
        yield Span(last, len(text), is_open=False)
    first = text.find(known[-_MIN_PIECE:], 0, len(known) - 1)
    if first >= 0 and known.endswith(text[: first + _MIN_PIECE]):
        yield Span(0, first + _MIN_PIECE, is_open=False)


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
