"""Secrets in running text, looked at as a person sees it: in every view of the text.

Text is anything: prose, code, a shell's output, a configuration file, JSON in a string. What is
found is given as parts that never hold a line's end: blanking keeps the lines.
"""

import re
from typing import TYPE_CHECKING, NamedTuple

from acp_proxy.redaction import contexts, forms, names, vendors, views
from acp_proxy.redaction.finding import Finder
from acp_proxy.redaction.literals import Edit
from acp_proxy.redaction.names import MARKER, is_random
from acp_proxy.redaction.pem import find_keys
from acp_proxy.redaction.vendors import Span, find_shapes
from acp_proxy.redaction.views import Pieces, View

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from acp_proxy.redaction.known import Known

SHORTEST = 6
"""No text below that holds a secret: ``pw=abc``."""
_LINE_OF_KEY = re.compile(r"[A-Za-z0-9+/]{40,}={0,2}")
_SHORT = 256  # characters of a text that is looked at quickly first
_DRESS = (
    "\\",
    "\x1b",
    "%",
    "&",
    "\n",
    ".",
    "|",
)  # what views undo, and shapes without an anchor have
_RANDOM = re.compile(r"[A-Za-z0-9+/_-]{16}")  # may be base64
_ANCHORS = Finder(
    sorted({anchor.lower() for anchor in (*vendors.ANCHORS, *names.ANCHORS, *contexts.ANCHORS)})
)
_MOST = 20_000  # secrets in one text
_DEEPEST = 3  # escapes in escapes that are undone
_BUDGET = 7  # times a text's length that views of it may have together
_RUN = re.compile(r"[A-Za-z0-9_+/.~-]+={0,2}(?=[\s\"'`,;)\]}\x1b\\\u2502|]|\Z)")
_LINE = re.compile(r"[^\r\n]+")
_MIN_RUN, _MIN_LINE, _MAX_PIECES = 3, 16, 64


_Found = tuple[Pieces, str | None, str]
"""Where a secret stands, its value if it may be looked for elsewhere, and what gave it away."""
_CROWDED = "more than any text has"


class Part(NamedTuple):
    """A piece of a secret in a text; of each secret the first becomes the marker."""

    start: int
    end: int
    is_first: bool
    why: str = ""


def find(text: str, known: "Known | None" = None, values: "list[str] | None" = None) -> list[Part]:
    """Return the parts of a text to be blanked, in order, none touching another's characters.

    Args:
        text: Any text.
        known: What is a secret wherever it stands.
        values: Takes the secrets that were found, each in one piece.

    """
    if len(text) < _SHORT and not _may_hold(text, known):
        return []
    found: list[Part] = []
    for number, (pieces, value, why) in enumerate(_secrets(text, known)):
        if number > _MOST:  # nobody writes that many: what else is in there is not looked for
            return merged(_parts(text, [(0, len(text))], _CROWDED))
        if values is not None and value is not None:
            values.append(value)
        found += _parts(text, pieces, why)
    return merged(found)


def _may_hold(text: str, known: "Known | None") -> bool:
    """Tell whether anything could be found in a short text: one of the words that all else hangs on."""
    return (
        (known is not None and not known.is_empty)
        or any(map(text.__contains__, _DRESS))
        or _RANDOM.search(text) is not None
        or any(True for _ in _ANCHORS.matches(forms.folded(text)))
    )


def _parts(text: str, pieces: Pieces, why: str) -> "Iterator[Part]":
    """Yield the parts of one secret, line by line; no part of a marker that stands there already."""
    first = True
    for start, end in pieces:
        for line in _LINE.finditer(text, start, end):
            if (
                line[0].strip(" \t")
                and text[max(line.start() - 1, 0) : line.end() + 1].strip() != MARKER
            ):
                yield Part(*line.span(), first, why)
                first = False


def _secrets(text: str, known: "Known | None") -> "Iterator[_Found]":
    """Yield the pieces of every secret in a text, and its value."""
    budget = _BUDGET * len(text) + 4096
    whole = View(None, text)
    waiting: list[tuple[View, int]] = [(whole, 0)]
    seen: set[str] = set()
    while waiting:
        view, depth = waiting.pop(0)
        budget -= len(view.text)
        if budget < 0 or view.text in seen:
            continue
        seen.add(view.text)
        yield from _in_view(view, known)
        if depth < _DEEPEST:
            clean = views.plain(view)
            for change in (views.unescaped, views.unquoted, views.unmarked, views.characters):
                new = change(clean)
                if new is not clean:
                    waiting.append((new, depth + 1))
    yield from _in_base64(whole, known)


def _in_view(view: View, known: "Known | None") -> "Iterator[_Found]":
    """Yield what is found in one view, and in it without colours, gutters and line ends."""
    clean = views.plain(view)
    if clean is not view:
        yield from _named_and_shaped(views.spaced(view), known)
    yield from _named_and_shaped(clean, known)
    bare = views.without_gutters(clean)
    if bare is not clean:
        yield from _named_and_shaped(bare, known)
        again = views.without_gutters(bare)
        if again is not bare:
            bare = again
            yield from _named_and_shaped(bare, known)
    wide = views.rewrapped(clean)
    if wide is not clean:
        yield from _named_and_shaped(wide, known, is_certain=False)
    one = views.joined(bare)
    if one is not bare:
        yield from _across_lines(bare, one, known)
    elif clean is not view:
        yield from _across_lines(view, clean, known)


def _named_and_shaped(
    view: View, known: "Known | None", *, is_certain: bool = True
) -> "Iterator[_Found]":
    text = view.text
    lower = forms.folded(text)
    spans = [(span, "shape") for span in find_shapes(text, view.seams)]
    spans += ((span, "name") for span in forms.find(text, lower))
    spans += ((span, "context") for span in contexts.find(text, lower))
    starts = {span.start for span, _ in spans}
    for span, why in spans:
        value = text[span.start : span.end]
        if value != MARKER and (is_certain or is_random(value)):
            yield view.pieces(span.start, span.end), value, why
            yield from _goes_on(view, span, starts, why)
    if known is not None:
        for span in known.find(text):
            yield view.pieces(span.start, span.end), None, "known"
        dump = views.pairs_of_hex(view) if len(known) else view
        if dump is not view:
            for span in known.find(dump.text):
                yield dump.pieces(span.start, span.end), None, "known"
    for start, end in find_keys(text):
        yield view.pieces(start, end), None, "private key"
        for line in _LINE_OF_KEY.findall(text, start, end):
            yield [], line, "private key"


def _across_lines(bare: View, one: View, known: "Known | None") -> "Iterator[_Found]":
    """Yield what is found only when lines are joined."""
    for span in find_shapes(one.text, one.seams):
        pieces = one.pieces(span.start, span.end)
        if len(pieces) > 1 or span.start in one.seams or span.end in one.seams:
            needed = _needed(one.text[span.start : span.end], pieces)
            yield needed, None, "shape"
    if known is not None:
        for span in known.find(one.text):
            yield one.pieces(span.start, span.end), None, "known"


def _needed(value: str, pieces: Pieces) -> Pieces:
    """Return the pieces that belong to a secret: not the word that begins the line behind it."""
    kept: Pieces = []
    at = 0
    is_whole = False
    for number, (start, end) in enumerate(pieces):
        piece = value[at : at + end - start]
        at += end - start
        if is_whole and not _looks_random(piece):
            break
        kept.append((start, end))
        if not is_whole and number < _MAX_PIECES:
            is_whole = any(span.start == 0 for span in find_shapes(value[:at]))
    return kept


def _goes_on(view: View, span: Span, starts: set[int], why: str) -> "Iterator[_Found]":
    """Yield what reaches the end of its line and plainly goes on at the beginning of the next."""
    text, end = view.text, span.end
    spans = [(span.start, end)]
    while span.is_open and len(spans) < _MAX_PIECES:
        seam = views.SEAM.match(text, end + text.startswith("\r", end))
        line = text.rfind("\n", max(end - _MIN_LINE, 0), end) + 1
        if seam is None or end - max(line, end - _MIN_LINE) < _MIN_LINE:
            break
        run = _RUN.match(text, seam.end())
        if (
            run is None
            or run.start() in starts
            or not _looks_random(run[0])
            or text[run.end() : run.end() + 1] in (":", "=")
        ):
            break
        spans.append(run.span())
        end = run.end()
    if len(spans) > 1:
        pieces = [piece for start, stop in spans for piece in view.pieces(start, stop)]
        yield pieces, "".join(text[start:stop] for start, stop in spans), why


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


def _in_base64(view: View, known: "Known | None") -> "Iterator[_Found]":
    """Yield base64 of a text that holds a secret, whole."""
    for start, end, said in views.base64_texts(view.text):
        if any(True for _ in _secrets(said, known)) or _is_credential(said):
            yield view.pieces(start, end), None, "base64"


_CREDENTIAL = re.compile(r"[\w.@+-]{1,64}:(?P<value>[^\s:/]{8,256})")


def _is_credential(said: str) -> bool:
    """Tell whether a text is ``user:password``."""
    found = _CREDENTIAL.fullmatch(said)
    return found is not None and is_random(found["value"])


def merged(parts: "Iterable[Part]") -> list[Part]:
    """Return parts in order, those that overlap as one."""
    found: list[Part] = []
    for part in sorted(parts, key=lambda part: (part.start, -part.end, not part.is_first)):
        if found and part.start < found[-1].end:
            if part.end > found[-1].end:
                found[-1] = found[-1]._replace(end=part.end)
        elif part.end > part.start:
            found.append(part)
    return found


def as_edits(parts: "Iterable[Part]") -> list[Edit]:
    """Return parts as what is to be done to them."""
    return [
        Edit(part.start, part.end, MARKER if part.is_first else "", int(part.is_first), part.why)
        for part in parts
    ]
