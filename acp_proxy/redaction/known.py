"""Known secrets, found wherever they stand and in whatever encoding. Pure.

One automaton (Aho-Corasick) holds the known values and their encodings, so that the cost of a
search does not grow with their number. What changes a text without encoding it (escapes, percent
signs, colours, line ends) is undone by ``views`` before.
"""

import base64
from bisect import bisect_left
from typing import TYPE_CHECKING, Final

from acp_proxy.redaction.finding import Finder
from acp_proxy.redaction.names import is_memorable
from acp_proxy.redaction.rules import NO_RULES, Rules
from acp_proxy.redaction.vendors import Span
from acp_proxy.redaction.views import decoded

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

MAX_KNOWN: Final = 4000
"""So many values of a connection are looked for, the first ones."""
_MAX_LENGTH = 16384
_MIN_ENCODED = 6
_MIN_PIECE = 8  # of a secret at the edge of a text
_MIN_PART = 10  # of a secret anywhere
_NEEDLE = 64  # so much of a form is searched for; the rest is compared
_ODD = "surrogatepass"


class Known:
    """Secrets seen so far; grows only.

    Attributes:
        rules: What somebody wants blanked beside.

    """

    def __init__(self, rules: Rules = NO_RULES) -> None:
        self.rules = rules
        self._values: set[str] = set()
        self._forms: dict[
            str, tuple[list[str], list[str]]
        ] = {}  # of each needle: ending and beginning so
        self._fresh: list[str] = []  # needles that stand in no automaton yet
        self._automata: list[tuple[list[str], Finder]] = []  # each less than half of the one before
        self._heads: dict[str, list[str]] = {}  # values by their first and last characters
        self._tails: dict[str, list[str]] = {}
        for text in rules.texts:
            self._look_for(text)

    @property
    def is_empty(self) -> bool:
        """Whether nothing is looked for."""
        return not self._forms and self.rules.is_empty

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
        said = decoded(value.rstrip("="))
        if said is not None:
            self.add(said)
            self.add(said.partition(":")[2])

    def _look_for(self, value: str) -> None:
        for form in _plain_forms(value):
            size = min(max(_MIN_PART, len(form) // 2), _NEEDLE, len(form))
            self._needle(form[:size], form, is_suffix=False)
            if len(form) > size:
                self._needle(form[-size:], form, is_suffix=True)
            if len(form) > _MIN_PIECE:
                self._heads.setdefault(form[:_MIN_PIECE], []).append(form)
                self._tails.setdefault(form[-_MIN_PIECE:], []).append(form)
        for form in _encoded_forms(value):
            self._needle(form[:_NEEDLE], form, is_suffix=False)

    def _needle(self, needle: str, form: str, *, is_suffix: bool) -> None:
        """Search for a needle, and compare what stands before or behind it with a form."""
        forms = self._forms.get(needle)
        if forms is None:
            forms = self._forms[needle] = ([], [])
            self._fresh.append(needle)
        ordered, entry = forms[is_suffix], form[::-1] if is_suffix else form
        at = bisect_left(ordered, entry)
        if at == len(ordered) or ordered[at] != entry:
            ordered.insert(at, entry)

    def _build(self) -> None:
        """Put fresh needles into an automaton; merge small ones, so that they stay few."""
        words, self._fresh = self._fresh, []
        while self._automata and len(self._automata[-1][0]) < 2 * len(words):
            words = self._automata.pop()[0] + words
        self._automata.append((words, Finder(words, is_small=len(words) < _NEEDLE)))

    def find(self, text: str) -> "Iterator[Span]":
        """Yield where one of them stands, whole or half, and where a text begins or ends within one."""
        if self._fresh:
            self._build()
        for _, automaton in self._automata:
            done = 0
            for start, needle in automaton.matches(text):
                if start + len(needle) > done:
                    span = self._whole(text, start, needle)
                    done = span.end
                    yield span
        if self._heads:
            yield from self._at_edges(text)
        yield from self.rules.find(text)

    def _whole(self, text: str, start: int, needle: str) -> Span:
        """Return how much of the best form stands around a needle."""
        first, last = start, start + len(needle)
        prefixes, suffixes = self._forms[needle]
        if suffixes:
            before = text[max(last - _MAX_LENGTH, 0) : last]
            first = last - _longest(suffixes, before[::-1])
        if prefixes:
            last = start + _longest(prefixes, text[start : start + _MAX_LENGTH])
        return Span(min(first, start), last, is_open=False)

    def _at_edges(self, text: str) -> "Iterator[Span]":
        """Yield what a text that was cut off has of a secret at its beginning and its end."""
        size = len(text)
        for at in range(max(size - _NEEDLE, 0), size - _MIN_PIECE + 1):
            for form in self._heads.get(text[at : at + _MIN_PIECE], ()):
                if form.startswith(text[at:]):
                    yield Span(at, size, is_open=False)
        for at in range(_MIN_PIECE, min(_NEEDLE, size) + 1):
            for form in self._tails.get(text[at - _MIN_PIECE : at], ()):
                if form.endswith(text[:at]):
                    yield Span(0, at, is_open=False)


def _longest(ordered: list[str], text: str) -> int:
    """Return how many characters of a text are the same as the best of some forms, in order."""
    at = bisect_left(ordered, text)
    return max(_same(form, text) for form in ordered[max(at - 1, 0) : at + 1])


def _same(form: str, text: str) -> int:
    """Return how many characters at the beginning of two texts are the same."""
    if text.startswith(form):
        return len(form)
    low, high = 0, min(len(form), len(text)) + 1
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if text.startswith(form[:middle]) else (low, middle)
    return low


def _plain_forms(value: str) -> "Iterable[str]":
    return dict.fromkeys((value, value.encode(errors=_ODD).decode("latin-1")))


def _encoded_forms(value: str) -> "Iterator[str]":
    """Yield a value in base64, wherever it begins there, and in hexadecimal."""
    raw = value.encode(errors=_ODD)
    if len(raw) < _MIN_ENCODED:
        return
    yield raw.hex()
    yield raw.hex().upper()
    for form in dict.fromkeys(_base64_cores(raw)):
        if len(form) >= _MIN_PIECE:
            yield form
            yield base64.b64encode(form.encode()).decode()[: len(form) * 8 // 6]


def _base64_cores(raw: bytes) -> "Iterator[str]":
    """Yield the characters of base64 that depend on nothing but the value, for each alignment."""
    for shift in range(3):
        text = base64.b64encode(bytes(shift) + raw + bytes(3))
        core = text[-(-shift * 8 // 6) : (shift + len(raw)) * 8 // 6].decode()
        yield core
        if "+" in core or "/" in core:
            yield core.replace("+", "-").replace("/", "_")
