r"""Views: a text as a person sees it, with a map back to the text itself.

A program dresses text: colours, line numbers, gutters, escapes, percent signs. A view is the text
without one such dress. A span of a view maps back to the pieces of the original text that are the
secret; what stands between the pieces (colours, gutters, line ends) is left alone.
"""

import base64
import binascii
import html
import re
from array import array
from bisect import bisect_right
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

Pieces = list[tuple[int, int]]
"""Offsets of the original text, in order: start and end of each piece."""

ESCAPE: Final = (
    r"(?:\x1b|\\{1,4}(?:u001[bB]|x1[bB]|033|e(?=\[)))"
    r"(?:\[[0-?]{0,40}+[ -/]{0,4}+[@-~]|\][^\x07\x1b\\]{0,400}+(?:\x07|\x1b\\|\\u0007)|[()][0-9A-Z])"
)
"""The escape sequences of a terminal, as bytes or as a string literal writes them; a pattern."""
_ESCAPE = re.compile(ESCAPE)
_BAR = "\u2502\u2503|"
GUTTER: Final = (
    rf"(?:[ \t]{{0,12}}+[{_BAR}][ ]{{0,8}}\d{{1,7}}[ ]{{0,8}}[{_BAR}][ ]?|[ \t]{{0,12}}+\d{{1,7}}+(?:\t|\u2192|[ ]{{0,4}}[{_BAR}][ ]?|[:-](?![\d/]))"
    r"|(?:[\w.@~+/-]{1,200}?)[:-]\d{1,7}[:-]"
    rf"|[ \t]{{0,40}}+(?:[{_BAR}>#*][ ]?|//[ ]?)++|[+-](?![+-]))"
)
_GUTTER = re.compile(GUTTER)
_NEXT_GUTTER = re.compile(rf"\n{GUTTER}")
_BOX_END = re.compile(rf"[{_BAR}][ \t]*(?=\r?\n|\Z)")
_WIDEST = 120  # spaces before the right edge of a box
_NARROWEST = 30  # columns of a terminal
_UTF8 = re.compile(r"[\xc2-\xdf][\x80-\xbf]|[\xe0-\xef][\x80-\xbf]{2}|[\xf0-\xf4][\x80-\xbf]{3}")
_HEX_DUMP = re.compile(r"(?:[0-9a-fA-F]{2}[ :]){7,}[0-9a-fA-F]{2}")
_BETWEEN = re.compile(r"(?<=[0-9a-fA-F]{2})[ :](?=[0-9a-fA-F]{2})")
SEAM = re.compile(rf"\n[ \t]{{0,40}}+(?:{GUTTER}[ \t]{{0,40}}+)?")
_BACKSLASH = re.compile(
    r"\\(?:u([0-9a-fA-F]{4})|x([0-9a-fA-F]{2})|([\"'`/\\_*\[\](){}#+.!|<>~$&;@%^=:,?-])|([nrt]))"
)
_PERCENT = re.compile(r"%[0-9a-fA-F]{2}")
_ENTITY = re.compile(r"(?:&(?:#\d{1,7}|#[xX][0-9a-fA-F]{1,6}|quot|amp|lt|gt|apos|nbsp);)")
_BASE64 = re.compile(r"[A-Za-z0-9+/_-]{16,}+")
_CONTROLS = {"n": "\n", "r": "\r", "t": "\t"}
_MIN_TEXT = 12


class View:
    """A text made from another one, and where its characters come from.

    Attributes:
        text: The text of the view.
        seams: Offsets in the view where something of the original was left out.

    """

    def __init__(self, parent: "View | None", text: str) -> None:
        self.text = text
        self.seams: frozenset[int] = frozenset()
        self.parent = parent
        self._starts = array("q")  # of each segment, its offset in the view,
        self._origins = array("q")  # its offset in the parent,
        self._blocks = array("q")  # the length of a segment that maps as a whole; 0: one to one

    @property
    def is_changed(self) -> bool:
        """Whether this differs from its parent's text."""
        return self.parent is not None and self.text is not self.parent.text

    def substitute(self, edits: "Iterable[tuple[int, int, str]]", *, seams: bool = False) -> "View":
        """Return a view with pieces of the text replaced.

        Args:
            edits: Start, end and new text of each piece, in order. The characters of a new text map
                to the whole piece; an empty one leaves the piece out.
            seams: Note where pieces were left out.

        """
        text, done, length = self.text, 0, 0
        out: list[str] = []
        found = View(self, text)
        starts, origins, blocks = found._starts, found._origins, found._blocks
        places: list[int] = []
        for start, end, new in edits:
            if start > done:
                starts.append(length)
                origins.append(done)
                blocks.append(0)
                out.append(text[done:start])
                length += start - done
            if seams:
                places.append(length)
            if new:
                starts.append(length)
                origins.append(start)
                blocks.append(end - start)
                out.append(new)
                length += len(new)
            done = end
        if not done:
            return self
        starts.append(length)
        origins.append(done)
        blocks.append(0)
        out.append(text[done:])
        found.text = "".join(out)
        found.seams = frozenset(places)
        return found

    def pieces(self, start: int, end: int) -> Pieces:
        """Return where the characters of a span stand in the original text."""
        if self.parent is None:
            return [(start, end)] if end > start else []
        found: Pieces = []
        for first, last in self._in_parent(start, end):
            for piece in self.parent.pieces(first, last):
                if found and piece[0] <= found[-1][1]:
                    found[-1] = (found[-1][0], max(piece[1], found[-1][1]))
                else:
                    found.append(piece)
        return found

    def _in_parent(self, start: int, end: int) -> "Iterator[tuple[int, int]]":
        at = max(bisect_right(self._starts, start) - 1, 0)
        while at < len(self._starts) and self._starts[at] < end:
            begin = self._starts[at]
            stop = self._starts[at + 1] if at + 1 < len(self._starts) else len(self.text)
            origin, block = self._origins[at], self._blocks[at]
            first, last = max(start, begin), min(end, stop)
            if first < last:
                if block:
                    yield origin, origin + block
                else:
                    yield origin + first - begin, origin + last - begin
            at += 1


def plain(view: View) -> View:
    """Return a view without the escape sequences of a terminal."""
    if "\x1b" not in view.text and "\\" not in view.text:
        return view
    return view.substitute(((*m.span(), "") for m in _ESCAPE.finditer(view.text)), seams=True)


def spaced(view: View) -> View:
    """Return a view with a space for each escape sequence: words that colours separate stay apart."""
    return view.substitute((*m.span(), " ") for m in _ESCAPE.finditer(view.text))


def without_gutters(view: View) -> View:
    """Return a view without line numbers, file names, diff marks and bars before each line."""
    found = view.substitute(_gutters(view.text))
    if "\u2502" in found.text or "|" in found.text:
        found = found.substitute(_box_ends(found.text))
    return found


def _gutters(text: str) -> "Iterator[tuple[int, int, str]]":
    first = _GUTTER.match(text)
    if first is not None:
        yield 0, first.end(), ""
    for match in _NEXT_GUTTER.finditer(text, 0 if first is None else first.end()):
        yield match.start() + 1, match.end(), ""


def _box_ends(text: str) -> "Iterator[tuple[int, int, str]]":
    for match in _BOX_END.finditer(text):
        before = text[max(match.start() - _WIDEST, 0) : match.start()]
        yield match.start() - (len(before) - len(before.rstrip(" \t"))), match.end(), ""


def joined(view: View) -> View:
    """Return a view in which lines go on without their ends, indentation and gutters."""
    if "\n" not in view.text:
        return view
    return view.substitute(_seams(view.text), seams=True)


def _seams(text: str) -> "Iterator[tuple[int, int, str]]":
    for match in SEAM.finditer(text):
        start = match.start()
        if text[start - 1 : start] == "\r":
            start -= 1
        if text[start - 1 : start] == "\\":
            start -= 1
        yield start, match.end(), ""


def rewrapped(view: View) -> View:
    """Return a view without the line ends at which a terminal wrapped: those of the longest lines."""
    if "\n" not in view.text:
        return view
    lines = view.text.split("\n")
    lengths = [len(line) - line.endswith("\r") for line in lines]
    width = max(lengths[:-1])
    if width < _NARROWEST:
        return view
    edits = []
    at = 0
    for number, line in enumerate(lines[:-1]):
        at += len(line) + 1
        following = lines[number + 1]
        if lengths[number] == width and following and following[0] not in " \t\r":
            edits.append((at - 1 - line.endswith("\r"), at, ""))
    return view.substitute(edits, seams=True)


def unescaped(view: View) -> View:
    r"""Return a view with one level of backslash escapes undone: ``\"``, ``\n``, ``\u0041``."""
    if "\\" not in view.text:
        return view
    return view.substitute((*m.span(), _character(m)) for m in _BACKSLASH.finditer(view.text))


def _character(match: re.Match[str]) -> str:
    code = match[1] or match[2]
    if code:
        return chr(int(code, 16))
    return match[3] or _CONTROLS[match[4]]


def unquoted(view: View) -> View:
    """Return a view with percent escapes undone."""
    if "%" not in view.text:
        return view
    return view.substitute(
        (*m.span(), chr(int(m[0][1:], 16))) for m in _PERCENT.finditer(view.text)
    )


def unmarked(view: View) -> View:
    """Return a view with HTML's character references undone."""
    if "&" not in view.text or ";" not in view.text:
        return view
    return view.substitute((*m.span(), html.unescape(m[0])) for m in _ENTITY.finditer(view.text))


def characters(view: View) -> View:
    """Return a view of bytes (as Latin-1) with the characters that they are in UTF-8."""
    if view.text.isascii():
        return view
    return view.substitute(
        (*m.span(), new) for m in _UTF8.finditer(view.text) if (new := _from_utf8(m[0]))
    )


def _from_utf8(text: str) -> str:
    try:
        return text.encode("latin-1").decode()
    except UnicodeDecodeError:
        return ""


def pairs_of_hex(view: View) -> View:
    """Return a view with the hexadecimal digits of dumps in one piece."""
    if not _HEX_DUMP.search(view.text):
        return view
    return view.substitute((*m.span(), "") for m in _BETWEEN.finditer(view.text))


def decoded(run: str) -> str | None:
    """Return the text that a run of base64 says; None when it says none."""
    whole = run.replace("-", "+").replace("_", "/")
    try:
        text = base64.b64decode(whole + "=" * (-len(whole) % 4)).decode()
    except (binascii.Error, ValueError):
        return None
    if len(text) < _MIN_TEXT or not all(each.isprintable() or each in "\r\n\t" for each in text):
        return None
    return text


def base64_texts(text: str) -> "Iterator[tuple[int, int, str]]":
    """Yield where base64 of a text stands in a text, and what it says."""
    for match in _BASE64.finditer(text):
        found = decoded(match[0])
        if found is not None:
            yield match.start(), match.end(), found
