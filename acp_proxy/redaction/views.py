r"""Views: a text as a person sees it, with a map back to the text itself.

A program dresses text: colours, line numbers, gutters, escapes, percent signs. A view is the text
without one such dress. A span of a view maps back to the pieces of the original text that are the
secret; what stands between the pieces (colours, gutters, line ends) is left alone.
"""

import base64
import binascii
import html
import re
from bisect import bisect_right
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

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
_GUTTER = re.compile(rf"(?:(?<=\n)|\A){GUTTER}")
_BOX_END = re.compile(rf"[ \t]*+[{_BAR}][ \t]*(?=\r?\n|\Z)")
SEAM = re.compile(
    rf"(?:[ ]{{0,80}}[\u2502\u2503])?\\?\r?\n[ \t]{{0,40}}+(?:{GUTTER}[ \t]{{0,40}}+)?(?:\\\n)?"
)
_BACKSLASH = re.compile(
    r"\\(?:u([0-9a-fA-F]{4})|x([0-9a-fA-F]{2})|([\"'`/\\_*\[\](){}#+.!|<>~$&;@%^=:,?-])|([nrt]))"
)
_PERCENT = re.compile(r"(?:%[0-9a-fA-F]{2})++")
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
        self._starts: list[int] = []  # of each segment, its offset in the view,
        self._origins: list[int] = []  # its offset in the parent,
        self._blocks: list[int] = []  # the length of a segment that maps as a whole; 0: one to one

    @property
    def is_changed(self) -> bool:
        """Whether this differs from its parent's text."""
        return self.parent is not None and self.text is not self.parent.text

    def substitute(
        self,
        pattern: re.Pattern[str],
        replace: "Callable[[re.Match[str]], str | None]",
        *,
        seams: bool = False,
    ) -> "View":
        """Return a view with each match replaced; None leaves the match as it is.

        The characters of a replacement map to the whole match; an empty one leaves it out.
        """
        text, out, done, length = self.text, [], 0, 0
        found = View(self, text)
        places: list[int] = []
        for match in pattern.finditer(text):
            new = replace(match)
            if new is None or match.end() == match.start():
                continue
            if match.start() > done:
                found._segment(length, done, 0)
                out.append(text[done : match.start()])
                length += match.start() - done
            if seams:
                places.append(length)
            if new:
                found._segment(length, match.start(), match.end() - match.start())
                out.append(new)
                length += len(new)
            done = match.end()
        if not done:
            return self
        found._segment(length, done, 0)
        out.append(text[done:])
        found.text = "".join(out)
        found.seams = frozenset(places)
        return found

    def _segment(self, start: int, origin: int, block: int) -> None:
        self._starts.append(start)
        self._origins.append(origin)
        self._blocks.append(block)

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
    return view.substitute(_ESCAPE, lambda _: "", seams=True)


def spaced(view: View) -> View:
    """Return a view with a space for each escape sequence: words that colours separate stay apart."""
    if "\x1b" not in view.text and "\\" not in view.text:
        return view
    return view.substitute(_ESCAPE, lambda _: " ")


def without_gutters(view: View) -> View:
    """Return a view without line numbers, file names, diff marks and bars before each line."""
    text = view.text
    if "\n" not in text and not (text[:1].isdigit() or text[:1] in "+- >|#"):
        return view
    found = view.substitute(_GUTTER, lambda _: "")
    if "\u2502" in found.text or "|" in found.text:
        found = found.substitute(_BOX_END, lambda _: "")
    return found


def joined(view: View) -> View:
    """Return a view in which lines go on without their ends, indentation and gutters."""
    if "\n" not in view.text:
        return view
    return view.substitute(SEAM, lambda _: "", seams=True)


_UTF8 = re.compile(r"[\xc2-\xdf][\x80-\xbf]|[\xe0-\xef][\x80-\xbf]{2}|[\xf0-\xf4][\x80-\xbf]{3}")


def characters(view: View) -> View:
    """Return a view of bytes (as Latin-1) with the characters that they are in UTF-8."""
    if view.text.isascii():
        return view
    return view.substitute(_UTF8, _from_utf8)


def _from_utf8(match: re.Match[str]) -> str | None:
    try:
        return match[0].encode("latin-1").decode()
    except UnicodeDecodeError:
        return None


def rewrapped(view: View) -> View:
    """Return a view without the line ends at which a terminal wrapped: those of the longest lines."""
    lines = _LINES.findall(view.text)
    if len(lines) < _FEW:
        return view
    width = max(map(len, lines[:-1]))
    if width < _NARROWEST:
        return view
    return view.substitute(
        _WRAP,
        lambda match: "" if match.start() - view.text.rfind("\n", max(match.start() - width - 1, 0), match.start()) - 1 == width
        or (match.start() == width and "\n" not in view.text[:width]) else None,
        seams=True,
    )


_LINES = re.compile(r"[^\r\n]*")
_WRAP = re.compile(r"\r?\n(?=[^\s])")
_FEW, _NARROWEST = 2, 30


def unescaped(view: View) -> View:
    r"""Return a view with one level of backslash escapes undone: ``\"``, ``\n``, ``\u0041``."""
    if "\\" not in view.text:
        return view
    return view.substitute(_BACKSLASH, _character)


def _character(match: re.Match[str]) -> str:
    code = match[1] or match[2]
    if code:
        return chr(int(code, 16))
    return match[3] or _CONTROLS[match[4]]


def unquoted(view: View) -> View:
    """Return a view with percent escapes undone."""
    if "%" not in view.text:
        return view
    return view.substitute(re.compile(r"%[0-9a-fA-F]{2}"), lambda match: chr(int(match[0][1:], 16)))


def unmarked(view: View) -> View:
    """Return a view with HTML's character references undone."""
    if "&" not in view.text or ";" not in view.text:
        return view
    return view.substitute(_ENTITY, lambda match: html.unescape(match[0]))


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
