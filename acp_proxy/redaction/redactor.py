"""Blanks the secrets of one connection: in its frames, and in what is made of them.

    redactor = Redactor()
    redactor.learn(lambda: frames)                      # all of the connection, once or twice
    redactor.redact_frame(stream, raw, seq)             # a frame, still the same JSON
    redactor.redact_text(text), redactor.redact_value(value)

Without ``learn`` everything works with what was seen so far.
"""

from typing import TYPE_CHECKING, Any, Final

import orjson

from acp_proxy.redaction import joins, literals, texts
from acp_proxy.redaction.known import Known
from acp_proxy.redaction.names import MARKER
from acp_proxy.redaction.review import Place, Review
from acp_proxy.redaction.rules import NO_RULES, Rules
from acp_proxy.redaction.trees import Walk

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from acp_proxy.redaction.literals import Edit

__all__ = ["MARKER", "Redactor", "Rules"]

_STDERR: Final = "stderr"


class Redactor:
    """Follows one connection and blanks its secrets.

    A secret becomes ``[redacted]``, the same for all. Of a secret in pieces (chunks, wrapped
    lines) the first piece becomes that, the others nothing. What is blanked is not found again:
    redacting twice gives the same.

    Attributes:
        blanked: How many values were blanked so far.
        learned: The seq of the last frame that ``learn`` read; 0 before.
        review: Takes the places where something was blanked, or is left that may be a secret.

    """

    def __init__(self, rules: Rules | None = None) -> None:
        self.blanked = 0
        self.learned = 0
        self.review: Review | None = None
        self._known = Known(rules or NO_RULES)
        self._cuts: joins.Cuts = {}

    def redact_text(self, text: str) -> tuple[str, int]:
        """Return a text without the secrets in it, and how many values were blanked."""
        edits = self._walk().text_edits(text)
        return literals.apply(text, edits), self._count(edits)

    def redact_value(self, value: Any) -> tuple[Any, int]:
        """Return a JSON value without its secrets, and how many strings' secrets were blanked.

        The value given is not changed; what holds no secret is the same object. What is nested
        deeper than Python can follow is blanked as a whole.
        """
        walk = self._walk()
        try:
            found = walk.value(value)
        except RecursionError:
            walk.blanked += 1
            found = MARKER
        self.blanked += walk.blanked
        if self.review is not None:
            seq = value.get("seq") if isinstance(value, dict) else None
            self._note(seq if isinstance(seq, int) else None, walk.places, found)
        return found, walk.blanked

    def redact_frame(self, stream: str, raw: bytes, seq: int | None = None) -> bytes:
        """Return a frame without its secrets: JSON stays the same JSON but for blanked strings.

        May be used on frames as they come, in order: what is learned from one is known for the
        next ones. The end of the line stays.

        Args:
            stream: ``client``, ``agent`` or ``stderr``.
            raw: The frame's bytes, its terminator included.
            seq: The frame's number as ``learn`` was told it: secrets cut in pieces by frames
                are found too.

        """
        cuts = self._cuts_of(stream, raw, seq)
        if cuts is not None and not any(cuts.values()) and joins.is_plain_chunk(stream, raw):
            if self.review is not None:
                self._note(seq, [], _value_of(raw))
            return raw
        walk = self._walk(cuts)
        text, edits, encoding = self._frame_edits(stream, raw, cuts, walk)
        edits = _before_the_end(text, edits)
        self._count(edits)
        found = literals.apply(text, edits).encode(encoding, "surrogateescape") if edits else raw
        if self.review is not None:
            is_json = encoding == "utf-8"
            places = walk.places if is_json else [((), e.start, e.why) for e in edits if e.values]
            self._note(seq, places, _value_of(found) if is_json else text)
        return found

    def learn(self, frames: "Callable[[], Iterable[tuple[int, str, bytes]]]") -> int:
        """Read a connection to know its secrets, also those in pieces, before blanking.

        Args:
            frames: Gives the connection's frames from the first on, as seq, stream and bytes;
                called a second time when a secret became known that may have come before in pieces.

        Returns:
            How often they were read: once or twice.

        """
        for times in (1, 2):
            before = len(self._known)
            pieces = joins.Joins(self._parts)
            for seq, stream, raw in frames():
                if not joins.is_plain_chunk(stream, raw):
                    self._frame_edits(stream, raw, None)
                self.learned = seq
                pieces.add(seq, stream, raw)
            self._cuts = pieces.close()
            if len(self._known) == before:
                return times
        return 2

    def learn_text(self, text: str) -> None:
        """Know the secrets of a text that is no part of the connection: a file of credentials."""
        self._walk().text_edits(text)

    def _cuts_of(self, stream: str, raw: bytes, seq: int | None) -> "joins.FrameCuts | None":
        """Return what was found in a frame's joined texts; None when it was not learned."""
        if seq is None or seq > self.learned:
            return None
        paths = joins.joined_paths(stream, raw)
        found: joins.FrameCuts = {path: [] for path in paths}
        found.update(self._cuts.get(seq, {}))
        return found or None

    def _walk(self, cuts: "joins.FrameCuts | None" = None) -> Walk:
        return Walk(self._known, cuts)

    def _note(
        self, seq: int | None, places: "Iterable[tuple[joins.Path, int, str]]", left: Any
    ) -> None:
        """Note for the review what was blanked in a value, and what is left in it."""
        assert self.review is not None
        self.review.note_blanked(Place(seq, self._told(path), at, why) for path, at, why in places)
        self.review.note_left(seq, left)

    def _told(self, path: "joins.Path") -> "joins.Path":
        """Return a path whose keys hold no secret."""
        walk = self._walk()
        return tuple(
            literals.apply(key, walk.text_edits(key)) if isinstance(key, str) else key
            for key in path
        )

    def _frame_edits(
        self, stream: str, raw: bytes, cuts: "joins.FrameCuts | None", walk: Walk | None = None
    ) -> "tuple[str, list[Edit], str]":
        """Return a frame as text, its edits, and the text's encoding."""
        if stream != _STDERR:
            text = raw.decode(errors="surrogateescape")
            edits = (walk or self._walk(cuts)).json_edits(text)
            if edits is not None:
                return text, edits, "utf-8"
        text = raw.decode("latin-1")
        if cuts is not None and () in cuts:
            return text, texts.as_edits(cuts[()]), "latin-1"
        return text, self._walk().text_edits(text), "latin-1"

    def _parts(self, text: str) -> "list[texts.Part]":
        """Return what is to be blanked in a joined text."""
        edits = self._walk().text_edits(text)
        return [texts.Part(edit.start, edit.end, edit.values > 0, edit.why) for edit in edits]

    def _count(self, edits: "Iterable[Edit]") -> int:
        number = sum(edit.values for edit in edits)
        self.blanked += number
        return number


def _value_of(raw: bytes) -> Any:
    """Return what a frame says, for looking at its strings; a text when it is no JSON."""
    try:
        return orjson.loads(raw)
    except orjson.JSONDecodeError:
        return raw.decode(errors="replace")


def _before_the_end(text: str, edits: "list[Edit]") -> "list[Edit]":
    """Return edits that leave the end of the line: a text that a line cuts off may go up to it."""
    end = len(text) - (2 if text.endswith("\r\n") else text.endswith("\n"))
    if not edits or edits[-1].end <= end:
        return edits
    return [edit._replace(end=min(edit.end, end)) for edit in edits if edit.start < end]
