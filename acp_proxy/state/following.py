"""All that the log derives from frames: index, checkpoints, and the latest state in columns.

One Follower follows one connection from its first frame. It is what the recorder,
``import``, ``log reindex`` and ``verify`` share, so that they cannot differ. What it
gives depends on the frames alone, not on when it is asked. Pure: nothing is read
or written here.
"""

from typing import TYPE_CHECKING, Any, Final, NamedTuple

from acp_proxy.events.decoder import Decoder
from acp_proxy.events.index import Indexer, messages_of
from acp_proxy.events.vocabulary import ConnectionEnded, PromptSent
from acp_proxy.state.checkpoints import Checkpointer, Part, bytes_of
from acp_proxy.state.columns import Row, row_of
from acp_proxy.state.fold import State
from acp_proxy.state.snapshot import restore
from acp_proxy.state.texts import Text, Texts
from acp_proxy.wire.framing import Frame
from acp_proxy.wire.jsonrpc import Direction, Message

if TYPE_CHECKING:
    from collections.abc import Sequence

    from acp_proxy.state.sessions import Session
    from acp_proxy.state.snapshot import AnyStored


_THING: Final = (1 << 32) - 1  # the bits of a key that a session has not


class Checkpoint(NamedTuple):
    """A checkpoint: the message just after which it was taken, its size in bytes, its parts."""

    seq: int
    size: int
    parts: list[Part]


class Derived(NamedTuple):
    """What the frames gave since somebody last asked.

    Attributes:
        checkpoints: In their order.
        rows: By table, those of what was changed, under a key that is the thing's own.
        void: The things whose texts are to be forgotten, but for that of place 0.
        texts: Those that are new or longer.

    """

    checkpoints: list[Checkpoint]
    rows: dict[str, dict[int, Row]]
    void: list[int]
    texts: list[Text]


class Follower:
    """Follows one connection.

    Attributes:
        index: What the messages tell of the connection.

    """

    def __init__(self) -> None:
        self.index = Indexer()
        self._decoder = Decoder()
        self._state = State()
        self._state.watch()
        self._checkpointer = Checkpointer()
        self._checkpoints: list[Checkpoint] = []
        self._changed: dict[int, Any] = {}
        self._texts = Texts()
        self._resumed_at = 0

    def resume(self, seq: int, size: int, things: "Sequence[AnyStored]") -> None:
        """Begin with the state of a checkpoint: frames up to it are indexed only.

        Args:
            seq: The checkpoint.
            size: Its bytes.
            things: All that it and those before it hold.

        Raises:
            BadSnapshotError: They cannot be read; nothing is changed.

        """
        self._state, self._decoder = restore(things)
        self._state.watch()
        self._checkpointer = Checkpointer(size)
        self._checkpointer.let_all_go(self._state)
        self._texts = Texts(seq)
        self._resumed_at = seq

    def skip_to(self, seq: int) -> None:
        """Go on as if the messages up to ``seq`` had been there: the log lost them."""
        self.index.seq = seq
        self._decoder.seq = max(seq, self._resumed_at)

    def add(
        self, direction: Direction, frame: Frame, elapsed_ns: int | None
    ) -> list[tuple[Any, ...]]:
        """Return the rows of ``messages`` of the next frame, each beginning with its seq."""
        messages = messages_of(direction, frame)
        entries = self.index.rows(direction, frame, elapsed_ns, messages)
        if self.index.seq <= self._resumed_at:
            return entries
        for message in messages:
            self._fold(direction, message)
        if direction is Direction.STDERR:
            self._texts.stderr(self._decoder.seq, frame.raw)
        if self._checkpointer.is_due(frame.size, len(messages)):
            self._checkpoint()
        return entries

    def _fold(self, direction: Direction, message: Message) -> None:
        state, texts = self._state, self._texts
        session_id = None
        for event in self._decoder.add(direction, message):
            state.apply(event)
            session_id = event.session_id
            if type(event) is PromptSent and not event.is_turn and session_id in state.sessions:
                texts.prompt(state.sessions[session_id].key, event)
        changed = state.changed
        if changed:
            seq = self._decoder.seq
            mine = self._changed
            for key, thing in changed.items():
                if key & _THING:
                    texts.note(seq, session_id or "", key, thing)
                mine.pop(key, None)  # in the order of the last change of each
                mine[key] = thing
            self._checkpointer.note(changed)
            changed.clear()

    def _checkpoint(self) -> None:
        decoder = self._decoder
        parts = self._checkpointer.take(self._state, decoder)
        self._checkpoints.append(Checkpoint(decoder.seq, bytes_of(parts), parts))
        self._texts.checkpoint(decoder.seq)

    def end(self) -> None:
        """Take note that the connection has ended: no answer can come any more."""
        self._state.apply(ConnectionEnded(self._decoder.seq, None, None, ()))
        self._changed.update(self._state.watched)

    def take(self) -> Derived:
        """Return what is to be written, which is not returned again."""
        sessions = {session.key: session for session in self._state.sessions.values()}
        rows: dict[str, dict[int, Row]] = {}
        for key, thing in self._changed.items():
            session: Session = sessions[key & -(1 << 32)]
            if (found := row_of(session, thing)) is not None:
                rows.setdefault(found[0], {})[key] = found[1]
        checkpoints, self._checkpoints, self._changed = self._checkpoints, [], {}
        return Derived(checkpoints, rows, *self._texts.take())
