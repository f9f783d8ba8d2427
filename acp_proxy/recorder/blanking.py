"""Blanking secrets before they are written: ``run --redact-at-rest``.

What is stored is then another stream than the one that travelled: its offsets and
hashes are those of what is stored, as of an imported redacted export. What was seen
before tells more secrets, so whoever goes on for a dead recorder blanks again from the
journal's beginning, and drops what the log has.
"""

from typing import TYPE_CHECKING, Any

from acp_proxy.log.rows import STREAMS
from acp_proxy.redaction.redactor import MARKER, Redactor
from acp_proxy.redaction.rules import Rules
from acp_proxy.wire.framing import Frame

if TYPE_CHECKING:
    from acp_proxy.journal.records import Facts


class Blanking:
    """One connection's, by the rules that the facts of its start tell."""

    def __init__(self, facts: "Facts") -> None:
        lists = (facts.get(f"redact_{name}") for name in ("names", "texts", "patterns"))
        given = [value if isinstance(value, list) else [] for value in lists]
        self._redactor = Redactor(Rules(*given))
        self._shifts = [0] * len(STREAMS)  # by how much what is stored is longer
        self._stored = 0

    @property
    def is_behind(self) -> bool:
        """Whether the log has frames that were not blanked again yet."""
        return self._stored > 0

    def begin_again(self, frames: int) -> list[int]:
        """Begin with the journal's first frame, of which the log has so many; return the offsets."""
        self._stored = frames
        return [0] * len(STREAMS)

    def facts(self, facts: "Facts") -> "Facts":
        """Return the facts of the start, or of a note, without secrets."""
        blanked: Facts = {**facts, **self._redactor.redact_value(_spoken(facts))[0]}
        return blanked

    def blanked(self, stream: int, frame: Frame) -> Frame:
        """Return what is to be stored of the next frame; of one too long to be read, nothing."""
        if frame.size == len(frame.raw):
            raw = self._redactor.redact_frame(STREAMS[stream], frame.raw)
        else:
            self._redactor.blanked += 1
            raw = f"{MARKER}\n".encode()
        stored = Frame(self.offset(stream, frame.offset), raw, len(raw))
        self._shifts[stream] += len(raw) - frame.size
        return stored

    def is_stored(self) -> bool:
        """Tell whether the log has the frame that was just blanked."""
        if self._stored == 0:
            return False
        self._stored -= 1
        return True

    def offset(self, stream: int, offset: int) -> int:
        """Return where a byte of a stream, after all that was blanked, is in what is stored."""
        return offset + self._shifts[stream]

    def note(self) -> dict[str, Any]:
        """Return the connection's note: its frames are not the bytes that travelled."""
        return {"event": "redacted", "values": self._redactor.blanked}


def _spoken(facts: "Facts") -> dict[str, Any]:
    return {name: facts[name] for name in ("command", "cwd", "label", "why") if name in facts}
