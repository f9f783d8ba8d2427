"""Secrets that a line's end or a colour's escape sequence cuts in pieces.

A terminal wraps, an editor folds, ``grep`` paints: the text is looked at again without what was
put in between. Only what is found across such a seam counts here.
"""

import re
from bisect import bisect_right
from typing import TYPE_CHECKING, Final

from acp_proxy.redaction.shapes import Span, find_shapes

if TYPE_CHECKING:
    from collections.abc import Iterator

    from acp_proxy.redaction.known import Known

ESCAPE: Final = (
    r"\x1b\[[0-?]{0,40}+[ -/]{0,4}+[@-~]|\x1b\][^\x07\x1b]{0,400}+(?:\x07|\x1b\\)|\x1b[()][0-9A-Z]"
)
"""The escape sequences of a terminal, as a pattern."""
_SEAM = re.compile(rf"(?:\r?\n[ \t]{{0,40}}+(?:[\u2502\u2503|>][ \t]?)?+|{ESCAPE})+")
_RUN = re.compile(r"[A-Za-z0-9_+/.~-]+={0,2}(?=[\s\"'`,;)\]}\x1b\\]|\Z)")
_MIN_RUN, _MIN_LINE, _MAX_PIECES = 3, 16, 64

Pieces = list[tuple[int, int]]


def find(text: str, spans: list[Span], known: "Known | None") -> "Iterator[Pieces]":
    """Yield secrets in pieces.

    Args:
        text: Any text.
        spans: What was found in it already, in one piece.
        known: What is a secret wherever it stands.

    """
    if "\n" not in text and "\x1b" not in text:
        return
    seams = list(_SEAM.finditer(text))
    if not seams:
        return
    yield from _goes_on(text, spans, seams)
    folded = _Folded(text, seams)
    whole = {span.start: span for span in spans}
    found = list(find_shapes(folded.text, folded.seams))
    known_spans = list(known.find(folded.text)) if known is not None else []
    for span in found:
        pieces = folded.pieces(span)
        if len(pieces) > 1 or span.start in folded.seams or span.end in folded.seams:
            yield _needed(text, pieces, whole)
    for span in known_spans:
        pieces = folded.pieces(span)
        if len(pieces) > 1:
            yield pieces


class _Folded:
    """A text without its seams."""

    def __init__(self, text: str, seams: list[re.Match[str]]) -> None:
        self._starts, self._places, kept = [], [], []
        done = length = 0
        for seam in [*seams, None]:
            end = len(text) if seam is None else seam.start()
            self._starts.append(length)
            self._places.append(done)
            kept.append(text[done:end])
            length += end - done
            done = end if seam is None else seam.end()
        self.text = "".join(kept)
        self.seams = frozenset(self._starts)
        self._starts.append(length)

    def pieces(self, span: Span) -> Pieces:
        """Return where in the text a span of the folded text stands."""
        at = bisect_right(self._starts, span.start) - 1
        found: Pieces = []
        start = span.start
        while start < span.end:
            end = min(span.end, self._starts[at + 1])
            if end > start:
                place = self._places[at] + start - self._starts[at]
                found.append((place, place + end - start))
            start = end
            at += 1
        return found


def _needed(text: str, pieces: Pieces, whole: dict[int, Span]) -> Pieces:
    """Return the pieces that belong to a secret: not the word that begins the line behind it."""
    joined = ""
    kept: Pieces = []
    is_whole = False
    for number, (start, end) in enumerate(pieces):
        piece = text[start:end]
        is_line = kept and "\n" in text[kept[-1][1] : start]
        if is_whole and is_line and not _looks_random(piece):
            break
        kept.append((start, end))
        joined += piece
        if not is_whole:
            is_whole = (number == 0 and start in whole and whole[start].end == end) or (
                number < _MAX_PIECES and any(span.start == 0 for span in find_shapes(joined))
            )
    return kept


def _goes_on(text: str, spans: list[Span], seams: list[re.Match[str]]) -> "Iterator[Pieces]":
    """Yield what reaches the end of its line and plainly goes on at the beginning of the next."""
    after = {seam.start(): seam.end() for seam in seams}
    starts = {span.start for span in spans}
    for span in spans:
        end = span.end
        pieces: Pieces = [(span.start, end)]
        while span.is_open and end in after and len(pieces) < _MAX_PIECES:
            line = text.rfind("\n", 0, end) + 1
            run = _RUN.match(text, after[end])
            if run is None or run.start() in starts or end - line < _MIN_LINE:
                break
            if not _looks_random(run[0]):
                break
            pieces.append(run.span())
            end = run.end()
        if len(pieces) > 1:
            yield pieces


def _looks_random(piece: str) -> bool:
    """Tell whether a piece of a line is no word or number."""
    if len(piece) < _MIN_RUN:
        return False
    has_digit = any(map(str.isdigit, piece))
    has_lower = piece.upper() != piece
    has_upper = piece.lower() != piece
    return (has_digit and (has_lower or has_upper)) or (
        has_lower and has_upper and not piece.istitle()
    )
