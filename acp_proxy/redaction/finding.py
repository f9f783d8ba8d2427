"""Where any of many words stands in a text, found in one pass (Aho-Corasick): linear, and fast."""

from typing import TYPE_CHECKING

from ahocorasick_rs import AhoCorasick, BytesAhoCorasick, Implementation

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence


def finder_in_bytes(words: "Iterable[bytes]") -> "Callable[[bytes], list[tuple[int, int, int]]]":
    """Return what finds words in bytes: their numbers, where they begin and end."""
    return BytesAhoCorasick(words, implementation=Implementation.DFA).find_matches_as_indexes


class Finder:
    """Finds words in text, also those that overlap."""

    def __init__(self, words: "Sequence[str]") -> None:
        self._words = words
        automaton = AhoCorasick(words, implementation=Implementation.DFA)
        self._find = automaton.find_matches_as_indexes

    def places(self, text: str) -> dict[str, list[int]]:
        """Return where each word begins, in order; nothing of those that are not there."""
        found: dict[str, list[int]] = {}
        for number, start, _ in self._matches(text):
            found.setdefault(self._words[number], []).append(start)
        return found

    def starts(self, text: str) -> list[int]:
        """Return where any of the words begins, in order."""
        return sorted({start for _, start, _ in self._matches(text)})

    def _matches(self, text: str) -> list[tuple[int, int, int]]:
        try:
            return self._find(text, overlapping=True)
        except UnicodeEncodeError:  # half of a surrogate pair: another character in its place
            return self._find(text.encode(errors="replace").decode(), overlapping=True)
