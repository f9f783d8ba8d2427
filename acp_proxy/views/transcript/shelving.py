"""What is large in a state, on a shelf instead of in memory, until its entry is made.

A long connection's state is mostly content: texts, inputs, outputs. While the first
pass goes on, what was changed is put on the shelf now and then, as text; the second
pass takes one thing after the other from it. A short connection never needs it.
"""

from array import array
from bisect import bisect_left
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final, Protocol, TypeVar

from acp_proxy.state.growing import Blocks, Output, pack, unpack
from acp_proxy.state.permissions import Permission
from acp_proxy.state.sessions import Session
from acp_proxy.state.snapshot import growing_of
from acp_proxy.state.tool_calls import ToolCall

if TYPE_CHECKING:
    from acp_proxy.state.fold import State

_DUE: Final = 2 * 1024 * 1024  # bytes of frames after which what they changed is put away
_SMALL: Final = 64  # a value of so few bytes as text stays where it is
_LARGE: Final[dict[type[Any], tuple[str, ...]]] = {
    ToolCall: ("raw_input", "raw_output", "locations"),
    Permission: ("title", "description", "subject", "tool_call", "options", "outcome"),
}  # values that no reducer looks into
_NOTHING: Final = (b"", pack([]))
_Thing = TypeVar("_Thing")


class Shelf(Protocol):
    """Keeps bytes."""

    def put(self, data: bytes) -> int:
        """Keep bytes; return where they are."""

    def get(self, at: int, size: int) -> bytes:
        """Return bytes."""


class _Shelved(int):
    """Stands for a value that is on the shelf: where, and in the lower half how large it is."""

    __slots__ = ()


class Values:
    """The large values of the things of a state.

    Args:
        shelf: Where to put them.
        due: After so many bytes of frames what they changed is put away.

    """

    def __init__(self, shelf: Shelf, due: int = _DUE) -> None:
        self._shelf = shelf
        self._due = due
        self._weight = 0
        self._late: dict[int, list[bytes]] = {}  # what was in memory when it was asked for
        # What of which thing was put away after which message, where, and how large it is.
        self._keys, self._seqs, self._ats, self._sizes = (array("q") for _ in range(4))

    def note(self, state: "State", size: int) -> None:
        """Take note of a message of so many bytes; put away what was changed when it is due."""
        if state.changed is None:
            state.watch()
        self._weight += size
        if self._weight >= self._due and state.changed is not None:
            state.changed |= self._put_away(state, state.changed)
            self._weight = 0

    def finish(self) -> None:
        """Nothing is noted any more; from now on values can be asked for."""
        order = sorted(range(len(self._keys)), key=self._keys.__getitem__)
        columns = (self._keys, self._seqs, self._ats, self._sizes)
        self._keys, self._seqs, self._ats, self._sizes = (
            array("q", map(column.__getitem__, order)) for column in columns
        )

    def content(self, session: Session, thing: Any) -> Any:
        """Return the value of a thing that grows: blocks to go through, or bytes; None for none."""
        growing = growing_of(thing)
        if growing is None or growing.since is None:
            return growing
        key = session.key + thing.number
        texts = self._texts(key, growing.since)
        rest = growing.cut(growing.since)  # what came since it was put away last
        if rest not in _NOTHING:
            self._late.setdefault(key, []).append(rest)
        texts += self._late.get(key, ())
        if isinstance(growing, Blocks):
            return [value for text in texts if len(text) > 1 for value in unpack(text)]
        return b"".join(texts)

    def whole(self, thing: _Thing) -> _Thing:
        """Return a copy of a thing with all values that do not grow."""
        found: dict[str, Any] = {
            name: unpack(self._shelf.get(value >> 32, value & 0xFFFFFFFF))[0]
            for name in _LARGE.get(type(thing), ())
            if isinstance(value := getattr(thing, name), _Shelved)
        }
        copy: _Thing = replace(thing, **found) if found else thing  # type: ignore[type-var]
        return copy

    def _texts(self, key: int, since: int) -> list[bytes]:
        at = bisect_left(self._keys, key)
        texts = []
        while at < len(self._keys) and self._keys[at] == key:
            if self._seqs[at] >= since:
                texts.append(self._shelf.get(self._ats[at], self._sizes[at]))
            at += 1
        return texts

    def _put_away(self, state: "State", changed: dict[int, Any]) -> dict[int, Any]:
        """Put away what was changed; return what must stay: a prompt whose echo may still come."""
        echoing = {
            id(session.messages[session.open_prompt])
            for session in state.sessions.values()
            if session.open_prompt is not None
        }
        kept = {}
        for key, thing in changed.items():
            if id(thing) in echoing:
                kept[key] = thing
            elif thing is not None:
                self._put_growing(key, growing_of(thing), state.seq)
                self._put_values(thing)
        changed.clear()
        return kept

    def _put_growing(self, key: int, growing: Blocks | Output | None, seq: int) -> None:
        if growing is None:
            return
        text = growing.cut(seq)
        growing.let_go()
        self._keys.append(key)
        self._seqs.append(seq)
        self._ats.append(self._shelf.put(text))
        self._sizes.append(len(text))

    def _put_values(self, thing: Any) -> None:
        for name in _LARGE.get(type(thing), ()):
            value = getattr(thing, name)
            if type(value) in (dict, list, str) and value:
                text = pack([value])
                if len(text) > _SMALL:
                    setattr(thing, name, _Shelved(self._shelf.put(text) << 32 | len(text)))
