"""The events: what messages of either version mean, in one vocabulary of past participles."""

from dataclasses import dataclass
from typing import Any

from acp_proxy.events.event import (
    JSON,
    UNSET,
    ArrayPatch,
    Event,
    MetaRule,
    ObjectPatch,
    Owner,
    Role,
    TextPatch,
    Unset,
)

# The connection.


@dataclass(slots=True)
class Initialized(Event):
    """The agent answered ``initialize``; None when the answer names no version (docs/protocol.md: Versions)."""

    protocol_version: int | str | None


@dataclass(slots=True)
class ConnectionEnded(Event):
    """Nothing follows: what is open stays unanswered. From the log, not from a message."""


# Sessions.


@dataclass(slots=True)
class SessionOpened(Event):
    """A session was made, loaded, resumed or forked: the answer came (docs/protocol.md: Sessions)."""

    cwd: TextPatch = UNSET
    mode: TextPatch = UNSET
    config_options: ArrayPatch = UNSET
    available_commands: ArrayPatch = UNSET


@dataclass(slots=True)
class SessionClosed(Event):
    """A session was closed on this connection."""


@dataclass(slots=True)
class ReplayBegan(Event):
    """History was asked for: what follows for this session repeats what was (docs/protocol.md: Sessions)."""


@dataclass(slots=True)
class ReplayEnded(Event):
    """The request for history was answered."""


@dataclass(slots=True)
class SessionInfoChanged(Event):
    """Title, time or ``_meta`` of a session changed."""

    title: TextPatch = UNSET
    updated_at: TextPatch = UNSET
    meta: ObjectPatch = UNSET
    meta_rule: MetaRule = MetaRule.PATCH


@dataclass(slots=True)
class ModeChanged(Event):
    """The session's mode changed (v1)."""

    mode: str


@dataclass(slots=True)
class CommandsChanged(Event):
    """The whole list of available commands changed."""

    available_commands: list[Any]


@dataclass(slots=True)
class ConfigOptionsChanged(Event):
    """The whole list of configuration options changed."""

    config_options: list[Any]


@dataclass(slots=True)
class UsageChanged(Event):
    """Use of the context changed; ``usage`` is without its cost, which may be kept."""

    usage: dict[str, Any]
    cost: ObjectPatch = UNSET


@dataclass(slots=True)
class ActivityChanged(Event):
    """A v2 ``state_update``: the whole snapshot, without its tag."""

    activity: dict[str, Any]


@dataclass(slots=True)
class NoticeGiven(Event):
    """The agent told the user something outside of the conversation."""

    notice: dict[str, Any]


# Turns and messages.


@dataclass(slots=True)
class PromptSent(Event):
    """The client sent a prompt. In v1 it begins a turn and is the user's message (docs/protocol.md: Messages and thoughts).

    ``prompt_seq``: it was sent in that message and is read again, as only now the version is known.
    """

    prompt: list[Any]
    is_turn: bool
    prompt_seq: int | None = None


@dataclass(slots=True)
class PromptAnswered(Event):
    """A prompt was answered: in v1 its turn is over, in v2 its message was inserted or refused."""

    prompt_seq: int
    is_turn: bool
    stop_reason: str | None = None
    message_id: str | None = None
    error: Any = None


@dataclass(slots=True)
class TurnCancelled(Event):
    """The client asked to stop the session's work; that changes no state by itself."""


@dataclass(slots=True)
class MessageUpdated(Event):
    """A message was upserted as a whole (v2)."""

    role: Role
    message_id: str
    content: ArrayPatch = UNSET
    meta: ObjectPatch = UNSET


@dataclass(slots=True)
class MessageChunkAdded(Event):
    """A block was added to a message; ``joins``: which one is told by its place (v1, docs/protocol.md: Messages and thoughts)."""

    role: Role
    message_id: str | None
    content: Any
    joins: bool


@dataclass(slots=True)
class CompactionUpdated(Event):
    """A compaction of the context was upserted."""

    compaction_id: str
    status: str
    summary: ArrayPatch = UNSET
    error: TextPatch = UNSET
    meta: ObjectPatch = UNSET
    meta_rule: MetaRule = MetaRule.PATCH


@dataclass(slots=True)
class CompactionSummaryAdded(Event):
    """A block was added to a compaction's summary."""

    compaction_id: str
    content: Any


@dataclass(slots=True)
class SubagentUpdated(Event):
    """A child session was announced, or what is known of it changed."""

    child_id: str
    title: TextPatch = UNSET
    description: TextPatch = UNSET
    capabilities: ObjectPatch = UNSET
    state: ObjectPatch = UNSET
    cwd: TextPatch = UNSET
    additional_directories: ArrayPatch = UNSET
    meta: ObjectPatch = UNSET
    meta_rule: MetaRule = MetaRule.PATCH


@dataclass(slots=True)
class SessionMessageUpdated(Event):
    """A message between sessions was upserted."""

    message_id: str
    sender_session_id: TextPatch = UNSET
    recipient_session_id: TextPatch = UNSET
    sender_message_id: TextPatch = UNSET
    recipient_message_id: TextPatch = UNSET
    content: ArrayPatch = UNSET
    meta: ObjectPatch = UNSET
    meta_rule: MetaRule = MetaRule.PATCH


@dataclass(slots=True)
class SessionMessageChunkAdded(Event):
    """A block was added to a message between sessions."""

    message_id: str
    content: Any


# Tool calls, terminals, plans, permissions.


@dataclass(slots=True)
class ToolCallUpdated(Event):
    """A tool call was upserted (docs/protocol.md: Tool calls)."""

    tool_call_id: str
    name: TextPatch = UNSET
    title: TextPatch = UNSET
    kind: TextPatch = UNSET
    status: TextPatch = UNSET
    content: ArrayPatch = UNSET
    locations: ArrayPatch = UNSET
    raw_input: JSON = UNSET
    raw_output: JSON = UNSET
    capabilities: ObjectPatch = UNSET
    meta: ObjectPatch = UNSET
    meta_rule: MetaRule = MetaRule.PATCH


@dataclass(slots=True)
class ToolCallRestarted(ToolCallUpdated):
    """A v1 ``tool_call``: made, or made anew with defaults for all it does not say (docs/protocol.md: Tool calls)."""


@dataclass(slots=True)
class ToolCallContentAdded(Event):
    """An item was added to a tool call's content."""

    tool_call_id: str
    content: Any


@dataclass(slots=True)
class TerminalUpdated(Event):
    """A terminal was upserted (docs/protocol.md: Terminals).

    Attributes:
        output: All its bytes, None when they are unknown again.
        output_meta: The ``_meta`` of that snapshot.

    """

    owner: Owner
    terminal_id: str
    command: TextPatch = UNSET
    args: ArrayPatch = UNSET
    cwd: TextPatch = UNSET
    output_byte_limit: JSON = UNSET
    size: ObjectPatch = UNSET
    capabilities: ObjectPatch = UNSET
    output: bytes | Unset | None = UNSET
    output_meta: ObjectPatch = None
    truncated: bool | Unset = UNSET
    exit_status: ObjectPatch = UNSET
    killed: bool | Unset = UNSET
    released: bool | Unset = UNSET
    meta: ObjectPatch = UNSET


@dataclass(slots=True)
class TerminalCreated(TerminalUpdated):
    """The client made a terminal that the agent asked for; nothing older has to do with it."""


@dataclass(slots=True)
class TerminalOutputAdded(Event):
    """Bytes were added to a terminal's output."""

    owner: Owner
    terminal_id: str
    data: bytes


@dataclass(slots=True)
class TerminalInputEchoed(Event):
    """The agent told what was typed into a terminal (v1 ``_meta`` convention); no state."""

    terminal_id: str


@dataclass(slots=True)
class PlanUpdated(Event):
    """A plan was replaced; None is the id of the only one of v1."""

    plan_id: str | None
    plan: dict[str, Any]


@dataclass(slots=True)
class PlanRemoved(Event):
    """A plan was removed."""

    plan_id: str


@dataclass(slots=True)
class PermissionRequested(Event):
    """The agent asked for permission; it is known by ``seq`` (ids may come again)."""

    request_id: Any
    title: Any = None
    description: Any = None
    subject: Any = None
    tool_call: Any = None
    options: Any = None


@dataclass(slots=True)
class PermissionAnswered(Event):
    """The client answered: ``selected``, ``cancelled``, ``other`` or ``error`` (docs/protocol.md: Permissions)."""

    request_seq: int
    status: str
    option_id: str | None = None
    outcome: Any = None


# What has a name and no state of its own.


@dataclass(slots=True)
class ElicitationRequested(Event):
    """The agent asked the user for input."""


@dataclass(slots=True)
class ElicitationAnswered(Event):
    """The client answered such a request, or refused it."""

    request_seq: int


@dataclass(slots=True)
class ElicitationCompleted(Event):
    """The agent tells that what was asked for by URL is done."""


@dataclass(slots=True)
class RequestCancelled(Event):
    """Somebody took back a request of their own; the answer still follows."""


@dataclass(slots=True)
class RequestSent(Event):
    """Any other request."""

    method: str


@dataclass(slots=True)
class NotificationSent(Event):
    """Any other notification."""

    method: str


@dataclass(slots=True)
class UpdateReceived(Event):
    """A ``session/update`` that changes no state: of an unknown kind, or malformed."""

    kind: str | None


@dataclass(slots=True)
class RequestAnswered(Event):
    """Any other answer; None for one that nobody asked for."""

    request_seq: int | None
    method: str | None
    is_error: bool


@dataclass(slots=True)
class LineWritten(Event):
    """A line that is no message: text, stderr, or invalid; ``raw`` is its JSON if it has one."""
