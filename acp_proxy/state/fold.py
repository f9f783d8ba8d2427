"""Folding events into the state of a connection, by a table from event type to reducer."""

from collections.abc import Callable, Iterable
from typing import Any

from acp_proxy.events import vocabulary as v
from acp_proxy.events.event import Event
from acp_proxy.state import (
    asides,
    messages,
    permissions,
    plans,
    sessions,
    terminals,
    tool_calls,
    turns,
)
from acp_proxy.state.sessions import Session
from acp_proxy.state.stored import StoredSessions

REDUCERS: dict[type[Event], Callable[[Session, Any], None]] = {
    v.SessionOpened: sessions.opened,
    v.SessionClosed: sessions.closed,
    v.ReplayBegan: sessions.replay_began,
    v.ReplayEnded: sessions.replay_ended,
    v.SessionInfoChanged: sessions.info_changed,
    v.ModeChanged: sessions.mode_changed,
    v.CommandsChanged: sessions.commands_changed,
    v.ConfigOptionsChanged: sessions.config_options_changed,
    v.UsageChanged: sessions.usage_changed,
    v.NoticeGiven: sessions.notice_given,
    v.ActivityChanged: turns.activity_changed,
    v.PromptSent: turns.prompted,
    v.PromptAnswered: turns.answered,
    v.MessageUpdated: messages.updated,
    v.MessageChunkAdded: messages.chunk_added,
    v.ToolCallUpdated: tool_calls.updated,
    v.ToolCallRestarted: tool_calls.restarted,
    v.ToolCallContentAdded: tool_calls.content_added,
    v.TerminalUpdated: terminals.updated,
    v.TerminalCreated: terminals.created,
    v.TerminalOutputAdded: terminals.output_added,
    v.PlanUpdated: plans.updated,
    v.PlanRemoved: plans.removed,
    v.PermissionRequested: permissions.requested,
    v.PermissionAnswered: permissions.answered,
    v.CompactionUpdated: asides.compaction_updated,
    v.CompactionSummaryAdded: asides.summary_added,
    v.SubagentUpdated: asides.subagent_updated,
    v.SessionMessageUpdated: asides.session_message_updated,
    v.SessionMessageChunkAdded: asides.session_message_chunk_added,
}
"""What an event does to its session; events that are not here change nothing."""


class State:
    """What was true on one connection just after a message.

    Attributes:
        seq: That message; 0 before the first.
        protocol_version: As the agent's answer to ``initialize`` says, None before.
        sessions: By id, in order of first mention.
        changed: Each session and thing that was changed, by its key (``Session.key``); None when
            nobody wants to know, else emptied by whoever does.

    """

    __slots__ = ("changed", "protocol_version", "seq", "sessions")

    def __init__(self) -> None:
        self.seq = 0
        self.protocol_version: int | str | None = None
        self.sessions: dict[str, Session] = {}
        self.changed: dict[int, Any] | None = None

    def watch(self) -> None:
        """From now on keep in ``changed`` what is changed."""
        self.changed = {}
        for session in self.sessions.values():
            session.changed = self.changed

    @property
    def watched(self) -> dict[int, Any]:
        """``changed`` of a state that is watched."""
        assert self.changed is not None
        return self.changed

    def apply(self, event: Event) -> None:
        """Change this state by one event; its cost does not depend on what is there already."""
        self.seq = event.seq
        event_type = type(event)
        if event.session_id is None:
            self._apply_to_all(event)
            return
        session = self.sessions.get(event.session_id)
        if session is None:
            if event_type is v.SessionClosed:  # one that was never seen here
                return
            session = self._mention(event.session_id, event.seq)
        if event_type is v.SubagentUpdated and isinstance(event, v.SubagentUpdated):
            self._mention(event.child_id, event.seq)
        session.last_seq = event.seq
        if self.changed is not None:
            self.changed[session.key] = session
        reduce = REDUCERS.get(event_type)
        if reduce is not None:
            reduce(session, event)

    def _apply_to_all(self, event: Event) -> None:
        if isinstance(event, v.Initialized):
            if event.protocol_version is not None:
                self.protocol_version = event.protocol_version
        elif isinstance(event, v.ConnectionEnded):
            if isinstance(self.sessions, StoredSessions):
                self.sessions.do(permissions.abandoned)
                return
            for session in self.sessions.values():
                permissions.abandoned(session)

    def _mention(self, session_id: str, seq: int) -> Session:
        """Return a session, made when it is mentioned for the first time (docs/protocol.md: Sessions)."""
        session = self.sessions.get(session_id)
        if session is None:
            number = len(self.sessions) + 1
            session = Session(session_id, seq, number, seq, changed=self.changed)
            self.sessions[session_id] = session
            if self.changed is not None:
                self.changed[session.key] = session
        return session


def fold(events: Iterable[Event], start: State | None = None) -> State:
    """Return the state after all the events.

    Args:
        events: In order, as ``decode`` gives them.
        start: The state before the first of them; it is changed and returned. Without it, that of
            a connection on which nothing was said.

    >>> from acp_proxy import Direction, classify, decode, fold
    >>> line = (
    ...     b'{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":'
    ...     b'{"sessionUpdate":"tool_call","toolCallId":"t","title":"Read a.txt"}}}'
    ... )
    >>> state = fold(decode((Direction.AGENT, message) for message in classify(line)))
    >>> call = state.sessions["s"].tool_calls["t"]
    >>> call.title, call.status
    ('Read a.txt', 'pending')
    """
    state = State() if start is None else start
    for event in events:
        state.apply(event)
    return state
