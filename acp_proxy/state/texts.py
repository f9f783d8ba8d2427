"""What people wrote and read, as texts to be searched: prompts, messages, tools, terminals, stderr.

A text is a stretch of one thing's growth, some KB at most, under the message that it
began with. Which texts there are depends on the messages alone, not on when they
are asked for. How they are indexed is the log's affair.
"""

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from acp_proxy.events.fields import is_text
from acp_proxy.state.growing import Blocks, Output, unpacked
from acp_proxy.state.messages import Message
from acp_proxy.state.terminals import Terminal
from acp_proxy.state.tool_calls import ToolCall

if TYPE_CHECKING:
    from collections.abc import Iterator

    from acp_proxy.events.vocabulary import PromptSent

LONGEST: Final = 8192
"""A text that has come to so many characters is not added to by a later message."""
_LONGEST_INPUT: Final = 16 * 1024
_STDERR: Final = 0
_TOOL: Final = 0
_IN_BYTES: Final = ("terminal", "stderr")
_KINDS: Final = {"user": "prompt", "agent": "message", "thought": "thought"}
_SEQUENCES = re.compile(
    r"\x1b(?:\[[0-?]*[ -/]*[@-~]|[\]PX^_][^\x07\x1b]*(?:\x07|\x1b\\)?|[ -/]*[0-~])"
)
_CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f]")


class Text(NamedTuple):
    """A row of ``texts``.

    Attributes:
        part: The thing, as in ``State.changed``, a session for its prompts of version 2; 0 is
            standard error.
        place: The message that it began with; 0 for a tool call's title and input.
        kind: ``prompt``, ``message``, ``thought``, ``tool``, ``terminal`` or ``stderr``.
        session_id: Whose; None for standard error.
        seq: The message that it begins with; for title and input the tool call's first.
        last_seq: The last message that added to it.
        text: Itself, without control characters.

    """

    part: int
    place: int
    kind: str
    session_id: str | None
    seq: int
    last_seq: int
    text: str


@dataclass(slots=True)
class _Stretch:
    """A text that may still be added to; ``value`` is what it is cut from."""

    kind: str
    session_id: str | None
    seq: int
    value: Any = None
    used: int = 0
    last_seq: int = 0
    size: int = 0
    pieces: list[Any] = field(default_factory=list)
    is_fresh: bool = False


class Texts:
    """Follows a state, message by message."""

    def __init__(self, checkpoint_seq: int = 0) -> None:
        self._checkpoint_seq = checkpoint_seq
        self._open: dict[int, _Stretch] = {}
        self._tools: dict[int, tuple[Any, Any, str]] = {}  # title, input, its texts
        self._fresh: dict[int, dict[int, _Stretch | Text]] = {}  # by part and place
        self._replaced: dict[int, None] = {}

    def note(self, seq: int, session_id: str, key: int, thing: Any) -> None:
        """Take what a message added to a thing; None for one that has gone."""
        kind, session_id = type(thing), _storable(session_id)
        if kind is Message:
            self._grown(seq, _KINDS[thing.role], session_id, key, thing, thing.content)
        elif kind is ToolCall:
            self._tool(session_id, key, thing)
            self._grown(seq, "tool", session_id, key, thing, thing.content)
        elif kind is Terminal:
            if thing.output is not None:
                self._grown(seq, "terminal", session_id, key, thing, thing.output)
        elif thing is None:
            self._open.pop(key, None)
            self._void(key)

    def prompt(self, key: int, event: "PromptSent") -> None:
        """Take a prompt of version 2, which is no message until the agent says so."""
        seq = event.seq if event.prompt_seq is None else event.prompt_seq
        words = "\n".join(text for block in event.prompt for text in _texts_of(block))
        text = words[:_LONGEST_INPUT]
        session_id = _storable(event.session_id or "")
        self._put(key, seq, Text(key, seq, "prompt", session_id, seq, seq, text))

    def stderr(self, seq: int, raw: bytes) -> None:
        """Take a line of standard error."""
        stretch = self._open.get(_STDERR)
        if stretch is None:
            stretch = self._open[_STDERR] = _Stretch("stderr", None, seq)
        self._add(_STDERR, stretch, seq, raw)

    def checkpoint(self, seq: int) -> None:
        """End all texts: a checkpoint was taken, from which somebody may go on."""
        self._open.clear()
        self._tools.clear()
        self._checkpoint_seq = seq

    def take(self) -> "tuple[list[int], list[Text]]":
        """Return the things whose older texts are void, and the texts that are new or were changed.

        Blank ones too: one may have come to nothing since it was written.
        """
        rows = [
            one._replace(text=_readable(one.text))
            if isinstance(one, Text)
            else _text(part, place, one)
            for part, places in self._fresh.items()
            for place, one in places.items()
        ]
        replaced = list(self._replaced)
        self._fresh, self._replaced = {}, {}
        return replaced, rows

    def _grown(
        self, seq: int, kind: str, session_id: str, key: int, thing: Any, value: Blocks | Output
    ) -> None:
        stretch = self._open.get(key)
        if stretch is None or stretch.value is not value:
            is_known = stretch is not None or thing.first_seq <= self._checkpoint_seq
            if is_known and value.since is None:
                self._void(key)
            used = value.saved if stretch is None else 0
            stretch = self._open[key] = _Stretch(kind, session_id, seq, value, used)
        used = stretch.used
        stretch.used = size = len(value)
        if size == used:
            return
        if kind == "terminal":
            self._add(key, stretch, seq, value.tail(used))
            return
        for item in value.tail(used):
            if is_text(item):
                self._add(key, stretch, seq, item["text"])  # by far the most
                continue
            for text in _texts_of(item):
                self._add(key, stretch, seq, text)

    def _void(self, key: int) -> None:
        """Drop what was cut from a value that has been replaced, but for title and input."""
        self._replaced[key] = None
        places = self._fresh.get(key)
        if places is not None:
            self._fresh[key] = {place: one for place, one in places.items() if place == _TOOL}

    def _add(self, key: int, stretch: _Stretch, seq: int, piece: Any) -> None:
        if stretch.size >= LONGEST and stretch.last_seq != seq:  # full: the next message's begins
            stretch = self._open[key] = _Stretch(
                stretch.kind, stretch.session_id, seq, stretch.value, stretch.used
            )
        if not stretch.pieces:
            stretch.seq = seq
        elif stretch.last_seq == seq:  # of a list, not the next chunk: a word of its own
            stretch.pieces.append("\n")
        stretch.pieces.append(piece)
        stretch.size += len(piece)
        stretch.last_seq = seq
        if not stretch.is_fresh:
            stretch.is_fresh = True
            self._put(key, stretch.seq, stretch)

    def _put(self, part: int, place: int, one: _Stretch | Text) -> None:
        places = self._fresh.get(part)
        if places is None:
            places = self._fresh[part] = {}
        places[place] = one

    def _tool(self, session_id: str, key: int, call: ToolCall) -> None:
        title, given = call.title or call.name or "", call.raw_input
        known = self._tools.get(key)
        if known is not None and known[1] is given:
            if known[0] is title:
                return
            words = known[2]
        else:
            words = " ".join(_strings(unpacked(given)))
        self._tools[key] = (title, given, words)
        text = f"{title} {words}"
        first = call.first_seq
        self._put(key, _TOOL, Text(key, _TOOL, "tool", session_id, first, first, text))


def _texts_of(item: Any) -> "Iterator[str]":
    """Yield the texts in a content block, or in an item of a tool call's content."""
    block = item
    while type(block) is dict:
        text = block.get("text")
        if type(text) is str:
            yield text
        resource = block.get("resource")
        if type(resource) is dict and type(resource.get("text")) is str:
            yield resource["text"]
        block = block.get("content") if block is item else None


def _strings(value: Any) -> "Iterator[str]":
    """Yield the texts in a JSON value, whatever its depth, until they are too long."""
    todo, room = [value], _LONGEST_INPUT
    while todo and room > 0:
        item = todo.pop()
        if type(item) is str:
            yield item[:room]
            room -= len(item)
        elif type(item) is dict:
            todo.extend(reversed(item.values()))
        elif type(item) is list:
            todo.extend(reversed(item))


def _text(part: int, place: int, stretch: _Stretch) -> Text:
    empty = b"" if stretch.kind in _IN_BYTES else ""
    whole = empty.join(stretch.pieces)
    stretch.pieces[:] = [whole]  # joined once, however often it is asked for
    text = whole.decode(errors="replace") if isinstance(whole, bytes) else whole
    stretch.is_fresh = False
    return Text(
        part,
        place,
        stretch.kind,
        stretch.session_id,
        stretch.seq,
        stretch.last_seq,
        _readable(text),
    )


def _readable(text: str) -> str:
    """Return text without control sequences, as one that SQLite can hold."""
    if not text.isprintable():
        text = _CONTROLS.sub(" ", _SEQUENCES.sub("", text))
    return _storable(text)


def _storable(text: str) -> str:
    """Return text as one that SQLite can hold, halves of surrogate pairs escaped."""
    return text if text.isascii() else text.encode(errors="backslashreplace").decode()
