"""What has to be saved of a state so that it can be had again without its messages.

A checkpoint is taken as often as reading from the last one on stays short, and never
costs more than what came since. It has only what was changed since
the one before; of values that grow, only what grew. Where it is kept is the log's affair.
"""

from typing import TYPE_CHECKING, Any, Final, NamedTuple

from acp_proxy.state.snapshot import growing_of, head_of, head_of_connection, pack_values, things_of

if TYPE_CHECKING:
    from acp_proxy.events.decoder import Decoder
    from acp_proxy.state.fold import State
    from acp_proxy.state.messages import Message

SPACING: Final = 1024 * 1024
"""Bytes between two checkpoints, at least."""
MESSAGE_WEIGHT: Final = 128
"""What a message counts beside its bytes: many small ones take their time too."""


class Part(NamedTuple):
    """What one thing is at a checkpoint.

    Attributes:
        key: As in ``State.changed``; 0 is what belongs to no session.
        seq: The checkpoint: the message just after which it was taken.
        since: The checkpoint from which on the tails make up the value that grows.
        head: None when the thing has gone.
        tail: What grew; None when nothing can.

    """

    key: int
    seq: int
    since: int
    head: bytes | None
    tail: bytes | None


class Checkpointer:
    """Follows a state and says when a checkpoint is due, and what is in it.

    Args:
        last_bytes: How many bytes the last checkpoint has, when the state begins with it.

    """

    def __init__(self, last_bytes: int = 0) -> None:
        self._changed: dict[int, Any] = {}
        self._weight = 0
        self._spacing = max(SPACING, last_bytes)
        self._prompts: list[Message] = []

    def note(self, changed: dict[int, Any]) -> None:
        """Take what was changed, as in ``State.changed``."""
        self._changed.update(changed)

    def is_due(self, size: int, messages: int) -> bool:
        """Tell whether a checkpoint is due after a frame of so many bytes and messages."""
        self._weight += size + MESSAGE_WEIGHT * messages
        return self._weight >= self._spacing

    def take(self, state: "State", decoder: "Decoder") -> list[Part]:
        """Return the parts of a checkpoint just after the last message; lets go of what they hold."""
        seq = decoder.seq
        parts = [Part(0, seq, seq, head_of_connection(state, decoder), None)]
        parts += [_part(key, thing, seq) for key, thing in sorted(self._changed.items())]
        self._let_go(state, [*self._prompts, *self._changed.values()])
        self._changed = {}
        self._weight = 0
        self._spacing = max(SPACING, bytes_of(parts))
        return parts

    def let_all_go(self, state: "State") -> None:
        """Forget what the checkpoints hold of a state that was restored from them."""
        sessions = state.sessions.values()
        self._let_go(state, [thing for session in sessions for thing in things_of(session)])

    def _let_go(self, state: "State", things: list[Any]) -> None:
        """Forget what will not be read again; a prompt is, while its echo may come."""
        echoing = {
            id(session.messages[session.open_prompt])
            for session in state.sessions.values()
            if session.open_prompt is not None
        }
        kept = []
        for thing in things:
            if id(thing) in echoing:
                kept.append(thing)
            elif (growing := growing_of(thing)) is not None:
                growing.let_go()
            pack_values(thing)
        self._prompts = kept


def bytes_of(parts: list[Part]) -> int:
    """Return how many bytes parts hold."""
    return sum(len(part.head or b"") + len(part.tail or b"") for part in parts)


def _part(key: int, thing: Any, seq: int) -> Part:
    if thing is None:
        return Part(key, seq, seq, None, None)
    growing = growing_of(thing)
    if growing is None:
        return Part(key, seq, seq, head_of(thing), None)
    tail = growing.cut(seq)
    return Part(key, seq, growing.since or seq, head_of(thing), tail)
