"""Messages: upserted by id (v2), or joined from chunks by their place (v1) (docs/protocol.md: Messages and thoughts)."""

from bisect import bisect_right
from dataclasses import dataclass, field
from operator import attrgetter
from typing import TYPE_CHECKING, Any

from acp_proxy.events.event import MetaRule, Role, Unset
from acp_proxy.state.growing import Blocks
from acp_proxy.state.patching import no_meta, patched_meta
from acp_proxy.wire.exact_json import write

if TYPE_CHECKING:
    from acp_proxy.events.vocabulary import MessageChunkAdded, MessageUpdated, PromptSent
    from acp_proxy.state.sessions import Session

_FIRST_SEQ = attrgetter("first_seq")  # messages are in its order


@dataclass(slots=True)
class Message:
    """One message of the conversation.

    Attributes:
        role: ``user``, ``agent`` or ``thought``.
        message_id: None when it has none.
        content: Content blocks as sent, one for each chunk.
        replay: It came, or came again, as history.
        renewed: The replay window in which its content was cleared or replaced already.
        echoed: Of a v1 prompt: how far the agent has repeated it, as block and character.

    """

    role: str
    message_id: str | None
    first_seq: int
    last_seq: int
    content: Blocks = field(default_factory=Blocks)
    meta: dict[str, Any] = field(default_factory=no_meta)
    replay: bool = False
    renewed: int | None = None
    echoed: list[int] | None = None
    number: int = 0


def updated(session: "Session", event: "MessageUpdated") -> None:
    """Upsert a message of v2."""
    message = _known(session, event.role, event.message_id, event.seq)
    if not isinstance(event.content, Unset):
        message.content = Blocks(event.content or ())
        message.renewed = session.window
    message.meta = patched_meta(message.meta, event.meta, MetaRule.PATCH)


def chunk_added(session: "Session", event: "MessageChunkAdded") -> None:
    """Append a block to the message that it belongs to."""
    if not event.joins and event.message_id is not None:
        message = _known(session, event.role, event.message_id, event.seq)
    else:
        if session.window is not None and session.cleared != session.window:
            session.forget_messages(
                session.window
            )  # all is told again (docs/protocol.md: Sessions)
            session.cleared = session.window
        if (found := _joined(session, event)) is None:
            return
        message = found
    if session.replays(message.first_seq, message.renewed):
        message.content = Blocks()
        message.renewed = session.window
    message.content.append(event.content)


def prompted(session: "Session", event: "PromptSent") -> None:
    """Open a v1 prompt's message: the prompt itself is what the user said."""
    seq = event.seq if event.prompt_seq is None else event.prompt_seq
    message = Message(Role.USER.value, None, seq, seq, Blocks(event.prompt))
    message.echoed = [0, 0]
    place = put(session, message)
    if place == len(session.messages) - 1:
        session.open_message = place
    else:
        _move_open(session, place, 1)
    session.open_prompt = place
    session.touch(message)


def put(session: "Session", message: Message) -> int:
    """Put a message where it belongs by its first mention, the end but for a prompt read again.

    Returns:
        Its place.

    """
    messages, seq = session.messages, message.first_seq
    place = len(messages)
    if place and messages[-1].first_seq > seq:
        place = bisect_right(messages, seq, key=_FIRST_SEQ)
    messages.insert(place, message)
    return place


def unprompted(session: "Session", seq: int) -> None:
    """Take a prompt's message away: the agent tells what was said, or that nothing was."""
    place = bisect_right(session.messages, seq, key=_FIRST_SEQ) - 1
    while place >= 0 and session.messages[place].first_seq == seq:
        if session.messages[place].echoed is not None:
            _take_away(session, place)
            return
        place -= 1


def _take_away(session: "Session", place: int) -> None:
    message = session.messages.pop(place)
    if session.changed is not None:
        session.changed[session.key + message.number] = None
    if message.message_id is not None:
        session.known_messages.pop((message.role, message.message_id), None)
    if session.open_message == place:
        session.open_message = None
    if session.open_prompt == place:
        session.open_prompt = None
    _move_open(session, place, -1)


def _move_open(session: "Session", start: int, by: int) -> None:
    if session.open_message is not None and session.open_message >= start:
        session.open_message += by
    if session.open_prompt is not None and session.open_prompt >= start:
        session.open_prompt += by


def _known(session: "Session", role: Role, id_: str, seq: int) -> Message:
    """Return the message of an id, made if need be."""
    message = session.known_messages.get((role.value, id_))
    if message is None:
        return _begun(session, role, id_, seq)
    return _touched(session, message, seq)


def _joined(session: "Session", event: "MessageChunkAdded") -> Message | None:
    """Return the message that a v1 chunk belongs to; None for the echo of a prompt."""
    role, id_ = event.role.value, event.message_id
    if event.role is Role.USER and _is_echo(session, event):
        return None
    if id_ is not None and (role, id_) in session.known_messages:
        return _known(session, event.role, id_, event.seq)
    place = session.open_message
    last = None if place is None else session.messages[place]
    if (
        last is None
        or place is None
        or last.role != role
        or last.echoed is not None  # a prompt is whole: what is no echo is something else
        or None not in (id_, last.message_id)  # two ids, and they differ
    ):
        return _begun(session, event.role, id_, event.seq)
    _adopt(session, place, id_)
    return _touched(session, last, event.seq)


def _adopt(session: "Session", place: int, id_: str | None) -> None:
    """Know a message that had no id by the one of its chunk."""
    message = session.messages[place]
    if id_ is not None and message.message_id is None:
        message.message_id = id_
        session.known_messages[message.role, id_] = message


def _begun(session: "Session", role: Role, id_: str | None, seq: int) -> Message:
    message = Message(role.value, id_, seq, seq)
    session.open_message = len(session.messages)
    session.messages.append(message)
    if id_ is not None:
        session.known_messages[role.value, id_] = message
    return _touched(session, message, seq)


def _touched(session: "Session", message: Message, seq: int) -> Message:
    message.last_seq = seq
    session.touch(message)
    if session.window is not None:
        message.replay = True
    return message


def _is_echo(session: "Session", event: "MessageChunkAdded") -> bool:
    """Tell whether a chunk repeats the next part of the open prompt, and step over that part."""
    place = session.open_prompt
    if place is None:
        return False
    prompt = session.messages[place]
    after = _after_echo(prompt, event.content)
    if after is None:
        return False
    prompt.echoed = after
    _adopt(session, place, event.message_id)
    _touched(session, prompt, event.seq)
    return True


def _look_alike(one: Any, other: Any) -> bool:
    """Tell at a glance whether blocks may be equal: the strings in them, and in objects in them."""
    todo = [(one, other, 0)]
    while todo:
        mine, its, depth = todo.pop()
        if type(mine) is str and mine != its:
            return False
        if type(mine) is dict and depth <= 1:
            if type(its) is not dict or mine.keys() != its.keys():
                return False
            todo += [(value, its[key], depth + 1) for key, value in mine.items()]
    return True


def _after_echo(prompt: Message, block: Any) -> list[int] | None:
    """Return how far a prompt is repeated after a chunk, None when the chunk does not repeat it."""
    at, character = prompt.echoed or (0, 0)
    if at >= len(prompt.content):
        return None
    sent = prompt.content[at]
    # As text: 0 is not False, any depth. That takes long for a large prompt.
    if character == 0 and _look_alike(block, sent) and write(block) == write(sent):
        return [at + 1, 0]
    if type(sent) is not dict or sent.get("type") != "text" or block.get("type") != "text":
        return None
    whole, part = sent.get("text"), block.get("text")
    if type(whole) is not str or not part or not whole.startswith(part, character):
        return None
    character += len(part)
    return [at, character] if character < len(whole) else [at + 1, 0]
