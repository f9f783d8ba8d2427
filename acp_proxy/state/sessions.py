"""Sessions: what belongs to one, and what changes of it as a whole (docs/protocol.md: Sessions, Plans, modes, options)."""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from acp_proxy.events.event import UNSET, ObjectPatch, Unset
from acp_proxy.state.growing import Blocks
from acp_proxy.state.patching import no_meta, patched, patched_meta

if TYPE_CHECKING:
    from acp_proxy.events.event import Event
    from acp_proxy.events.vocabulary import (
        CommandsChanged,
        ConfigOptionsChanged,
        ModeChanged,
        NoticeGiven,
        SessionInfoChanged,
        SessionOpened,
        UsageChanged,
    )
    from acp_proxy.state.asides import Compaction, SessionMessage, Subagent
    from acp_proxy.state.messages import Message
    from acp_proxy.state.permissions import Permission
    from acp_proxy.state.terminals import Terminal
    from acp_proxy.state.tool_calls import ToolCall
    from acp_proxy.state.turns import Prompt, Turn


@dataclass(slots=True)
class Session:
    """One session as this connection saw it; None is "no value".

    Attributes:
        activity: The last ``state_update`` without its tag.
        notices: As sent, without their tag.
        windows: How many requests for history are open.
        window: The seq of the one that opened the replay window, None outside of one.
        cleared: The window in which a v1 replay cleared the messages already.
        open_message: The place of the message that a v1 chunk may join, None when there is none.
        open_prompt: The place of the v1 prompt that is being answered, whose echo may still come.
        known_messages: The messages that have an id, by role and id.
        prompted_turns: The turns that have a prompt, by its seq.
        prompts: v2 prompts that no turn has taken up yet, by their seq.
        permissions: By the seq of their request.
        terminals: By owner and id.
        number: Its place among the sessions of the connection, from 1.
        last_number: That of the thing that was mentioned last; things count from 1.
        changed: As in the State.
        key: What it is known by in ``changed``; a thing of it by the sum of this and its number.

    """

    session_id: str
    first_seq: int
    number: int
    last_seq: int = 0
    cwd: str | None = None
    title: str | None = None
    updated_at: str | None = None
    mode: str | None = None
    available_commands: list[Any] | None = None
    config_options: list[Any] | None = None
    usage: dict[str, Any] | None = None
    activity: dict[str, Any] | None = None
    meta: dict[str, Any] = field(default_factory=no_meta)
    notices: Blocks = field(default_factory=Blocks)
    closed: bool = False
    windows: int = 0
    window: int | None = None
    cleared: int | None = None
    open_message: int | None = None
    open_prompt: int | None = None
    last_number: int = 0
    tool_calls: "dict[str, ToolCall]" = field(default_factory=dict)
    terminals: "dict[tuple[str, str], Terminal]" = field(default_factory=dict)
    permissions: "dict[int, Permission]" = field(default_factory=dict)
    messages: "list[Message]" = field(default_factory=list)
    known_messages: "dict[tuple[str, str], Message]" = field(default_factory=dict)
    plans: dict[str | None, dict[str, Any]] = field(default_factory=dict)
    turns: "list[Turn]" = field(default_factory=list)
    prompted_turns: "dict[int, Turn]" = field(default_factory=dict)
    prompts: "dict[int, Prompt]" = field(default_factory=dict)
    compactions: "dict[str, Compaction]" = field(default_factory=dict)
    subagents: "dict[str, Subagent]" = field(default_factory=dict)
    session_messages: "dict[str, SessionMessage]" = field(default_factory=dict)
    changed: dict[int, Any] | None = None
    key: int = field(init=False)

    def __post_init__(self) -> None:
        self.key = self.number << 32

    def touch(self, thing: Any) -> None:
        """Say that one of its things is new or was changed."""
        if thing.number == 0:
            self.last_number += 1
            thing.number = self.last_number
        if self.changed is not None:
            self.changed[self.key + thing.number] = thing

    def replays(self, first_seq: int, renewed: int | None) -> bool:
        """Tell whether an append repeats what was there before a replay window (docs/protocol.md: Sessions).

        Args:
            first_seq: When the thing was first mentioned.
            renewed: The window in which it was cleared or replaced already.

        """
        window = self.window
        return window is not None and first_seq < window and renewed != window

    def forget_messages(self, before: int) -> None:
        """Drop the messages that nothing was said of since ``before``: they are told again."""
        if self.changed is not None:
            dropped = (message for message in self.messages if message.last_seq < before)
            self.changed.update((self.key + message.number, None) for message in dropped)
        self.messages = [message for message in self.messages if message.last_seq >= before]
        self.known_messages = {
            (message.role, message.message_id): message
            for message in self.messages
            if message.message_id is not None
        }
        self.open_message = self.open_prompt = None


def opened(session: Session, event: "SessionOpened") -> None:
    """Take what the answer to new, load, resume or fork tells; nothing is reset (docs/protocol.md: Sessions)."""
    session.closed = False
    session.cwd = patched(session.cwd, event.cwd)
    session.mode = patched(session.mode, event.mode)
    session.config_options = patched(session.config_options, event.config_options)
    session.available_commands = patched(session.available_commands, event.available_commands)


def closed(session: Session, _event: "Event") -> None:
    """Mark a session as closed; what was recorded of it stays."""
    session.closed = True


def replay_began(session: Session, event: "Event") -> None:
    """Open a replay window."""
    session.windows += 1
    session.window = event.seq


def replay_ended(session: Session, _event: "Event") -> None:
    """Close a replay window; what comes now is live and continues nothing of the replay."""
    session.windows = max(0, session.windows - 1)
    if session.windows == 0:
        session.window = None
        session.open_message = None


def info_changed(session: Session, event: "SessionInfoChanged") -> None:
    """Patch title, time and ``_meta``."""
    session.title = patched(session.title, event.title)
    session.updated_at = patched(session.updated_at, event.updated_at)
    session.meta = patched_meta(session.meta, event.meta, event.meta_rule)


def mode_changed(session: Session, event: "ModeChanged") -> None:
    """Set the mode."""
    session.mode = event.mode


def commands_changed(session: Session, event: "CommandsChanged") -> None:
    """Replace the list of commands."""
    session.available_commands = event.available_commands


def config_options_changed(session: Session, event: "ConfigOptionsChanged") -> None:
    """Replace the list of options."""
    session.config_options = event.config_options


def usage_changed(session: Session, event: "UsageChanged") -> None:
    """Replace the usage; a cost that is not told stays (docs/protocol.md: Plans, modes, options)."""
    cost: ObjectPatch = event.cost
    if isinstance(cost, Unset):
        cost = UNSET if session.usage is None else session.usage.get("cost", UNSET)
    session.usage = event.usage
    if cost is not UNSET and cost is not None:
        session.usage = {**event.usage, "cost": cost}


def notice_given(session: Session, event: "NoticeGiven") -> None:
    """Add a notice."""
    session.notices.append(event.notice)
