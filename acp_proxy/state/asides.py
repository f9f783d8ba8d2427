"""What stands beside the conversation: compactions, subagents, messages between sessions (docs/protocol.md: Plans, modes, options)."""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from acp_proxy.events.event import Unset
from acp_proxy.state.growing import Blocks
from acp_proxy.state.patching import no_meta, patched, patched_meta

if TYPE_CHECKING:
    from acp_proxy.events.vocabulary import (
        CompactionSummaryAdded,
        CompactionUpdated,
        SessionMessageChunkAdded,
        SessionMessageUpdated,
        SubagentUpdated,
    )
    from acp_proxy.state.sessions import Session


@dataclass(slots=True)
class Compaction:
    """One compaction of the context; None is "no value"."""

    compaction_id: str
    first_seq: int
    last_seq: int
    status: str = "in_progress"
    summary: Blocks = field(default_factory=Blocks)
    error: str | None = None
    meta: dict[str, Any] = field(default_factory=no_meta)
    renewed: int | None = None
    number: int = 0


@dataclass(slots=True)
class Subagent:
    """What its parent tells of a child session; None is "no value"."""

    session_id: str
    first_seq: int
    last_seq: int
    title: str | None = None
    description: str | None = None
    capabilities: dict[str, Any] | None = None
    state: dict[str, Any] | None = None
    cwd: str | None = None
    additional_directories: list[Any] | None = None
    meta: dict[str, Any] = field(default_factory=no_meta)
    number: int = 0


@dataclass(slots=True)
class SessionMessage:
    """One message between sessions; None is "no value"."""

    message_id: str
    first_seq: int
    last_seq: int
    sender_session_id: str | None = None
    recipient_session_id: str | None = None
    sender_message_id: str | None = None
    recipient_message_id: str | None = None
    content: Blocks = field(default_factory=Blocks)
    meta: dict[str, Any] = field(default_factory=no_meta)
    renewed: int | None = None
    number: int = 0


def compaction_updated(session: "Session", event: "CompactionUpdated") -> None:
    """Upsert a compaction."""
    compaction = _compaction(session, event.compaction_id, event.seq)
    compaction.status = event.status
    if not isinstance(event.summary, Unset):
        compaction.summary = Blocks(event.summary or ())
        compaction.renewed = session.window
    compaction.error = patched(compaction.error, event.error)
    compaction.meta = patched_meta(compaction.meta, event.meta, event.meta_rule)


def summary_added(session: "Session", event: "CompactionSummaryAdded") -> None:
    """Append a block to a summary."""
    compaction = _compaction(session, event.compaction_id, event.seq)
    if session.replays(compaction.first_seq, compaction.renewed):
        compaction.summary = Blocks()
        compaction.renewed = session.window
    compaction.summary.append(event.content)


def _compaction(session: "Session", id_: str, seq: int) -> Compaction:
    compaction = session.compactions.get(id_)
    if compaction is None:
        compaction = session.compactions[id_] = Compaction(id_, seq, seq)
    compaction.last_seq = seq
    session.touch(compaction)
    return compaction


def subagent_updated(session: "Session", event: "SubagentUpdated") -> None:
    """Upsert a child session in its parent."""
    child = session.subagents.get(event.child_id)
    if child is None:
        child = Subagent(event.child_id, event.seq, event.seq)
        session.subagents[event.child_id] = child
    child.last_seq = event.seq
    session.touch(child)
    child.title = patched(child.title, event.title)
    child.description = patched(child.description, event.description)
    child.capabilities = patched(child.capabilities, event.capabilities)
    child.state = patched(child.state, event.state)
    child.cwd = patched(child.cwd, event.cwd)
    child.additional_directories = patched(
        child.additional_directories, event.additional_directories
    )
    child.meta = patched_meta(child.meta, event.meta, event.meta_rule)


def session_message_updated(session: "Session", event: "SessionMessageUpdated") -> None:
    """Upsert a message between sessions."""
    message = _session_message(session, event.message_id, event.seq)
    message.sender_session_id = patched(message.sender_session_id, event.sender_session_id)
    message.recipient_session_id = patched(message.recipient_session_id, event.recipient_session_id)
    message.sender_message_id = patched(message.sender_message_id, event.sender_message_id)
    message.recipient_message_id = patched(message.recipient_message_id, event.recipient_message_id)
    if not isinstance(event.content, Unset):
        message.content = Blocks(event.content or ())
        message.renewed = session.window
    message.meta = patched_meta(message.meta, event.meta, event.meta_rule)


def session_message_chunk_added(session: "Session", event: "SessionMessageChunkAdded") -> None:
    """Append a block to a message between sessions."""
    message = _session_message(session, event.message_id, event.seq)
    if session.replays(message.first_seq, message.renewed):
        message.content = Blocks()
        message.renewed = session.window
    message.content.append(event.content)


def _session_message(session: "Session", id_: str, seq: int) -> SessionMessage:
    message = session.session_messages.get(id_)
    if message is None:
        message = session.session_messages[id_] = SessionMessage(id_, seq, seq)
    message.last_seq = seq
    session.touch(message)
    return message
