"""Where any of many words stands in a text, found in one pass (Aho-Corasick): linear, and fast."""

from typing import TYPE_CHECKING

from ahocorasick_rs import AhoCorasick, Implementation

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_SLICE = 1 << 15  # characters that are searched at once: what is found is never all in memory


class Finder:
    """Finds words in text, also those that overlap."""

    def __init__(self, words: "Sequence[str]", *, is_small: bool = True) -> None:
        """Take the words; for many of them an automaton that takes less memory is slower."""
        kind = Implementation.DFA if is_small else Implementation.ContiguousNFA
        self._words = [_clean(word) for word in words]
        self._given = list(words)
        self._longest = max(map(len, words), default=1)
        self._find = AhoCorasick(self._words, implementation=kind).find_matches_as_indexes

    def matches(self, text: str) -> "Iterator[tuple[int, str]]":
        """Yield where words begin, and which; in the order of their ends."""
        find, given = self._find, self._given
        text = _clean(text)
        if len(text) <= 2 * _SLICE:
            for number, start, _ in find(text, overlapping=True):
                yield start, given[number]
            return
        before = self._longest - 1
        for at in range(0, len(text), _SLICE):
            first = max(at - before, 0)
            for number, start, end in find(text[first : at + _SLICE], overlapping=True):
                if first + end > at:
                    yield first + start, given[number]


def _clean(text: str) -> str:
    """Return a text without halves of surrogate pairs: another character in their place."""
    if text.isascii():
        return text
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode(errors="replace").decode()
    return text
