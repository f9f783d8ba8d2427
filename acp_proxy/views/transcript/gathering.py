"""The first pass: follows the fold, and keeps for each message to which entry it belongs."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from acp_proxy.events import vocabulary as v
from acp_proxy.events.event import Event, Unset
from acp_proxy.events.labels import FINAL_STATUSES
from acp_proxy.views.transcript.marks import FOREIGN, REPLAYED, RUNS, Kind, Section

if TYPE_CHECKING:
    from acp_proxy.log.rows import MessageRow
    from acp_proxy.state.fold import State
    from acp_proxy.state.messages import Message
    from acp_proxy.state.sessions import Session

_MOST_NOTES = 1000  # of a section; an agent may make up as many as it likes
_MAKES = ("session/new", "session/fork")
_SEPARATE = frozenset(
    {Kind.PLAN, Kind.LINES}
)  # kinds whose runs stay together however much is shown

Owner = tuple[Section, int | str]
"""To what a message belongs: a mark by its index, or a sort that is not shown."""


class Gatherer:
    """Follows one connection.

    Attributes:
        sections: By session, in the order in which something was first said of it; None is
            what came before.

    """

    def __init__(self, *, is_full: bool = False) -> None:
        self.sections: dict[str | None, Section] = {None: Section(None)}
        self._runs = _SEPARATE if is_full else RUNS
        self._current = self.sections[None]
        self._entered = 0  # since which message it is the current one
        self._asked: dict[int, Owner] = {}
        self._terminals: dict[tuple[str | None, str, str], Owner] = {}

    def add(self, row: "MessageRow", state: "State", events: list[Event]) -> None:
        """Take the next message: its row, and the state after its events."""
        owner: Owner | None = None
        for event in events:
            place = self._place(row, state, event)
            if place is not None and (owner is None or isinstance(event, v.PermissionRequested)):
                owner = place
        for request in _answered(row, events):
            asked = self._asked.pop(request, None)
            if asked is not None and (owner is None or row.request_seq is None):
                owner = asked if owner is None else owner
                if isinstance(asked[1], int):
                    asked[0].marks.end(asked[1], row.seq)
        if owner is None:
            owner = self._current, "answers"
        section, place_of = owner
        if isinstance(place_of, str):
            section.hidden[place_of] += 1
            return
        section.marks.count(place_of)
        for event in events:
            for note in () if isinstance(event, v.LineWritten) else event.notes:
                _note(section, place_of, row.seq, note)

    def _place(self, row: "MessageRow", state: "State", event: Event) -> Owner | None:
        session = None if event.session_id is None else state.sessions.get(event.session_id)
        if session is not None:
            self._enter(session.session_id, row.seq)
        place = _PLACES.get(type(event))
        return None if place is None else place(self, row, session, event)

    def _enter(self, session_id: str, seq: int) -> None:
        if self._current.session_id == session_id:
            return
        if session_id not in self.sections:
            self.sections[session_id] = Section(session_id)
        self._current, self._entered = self.sections[session_id], seq

    def _mark(self, kind: Kind, row: "MessageRow", session: "Session | None", thing: Any) -> Owner:
        """Put a mark here, or go on with the run that stands here."""
        flags = FOREIGN if session is None else 0
        if session is not None and session.window is not None and kind is not Kind.REQUEST:
            flags |= REPLAYED
        marks = self._current.marks
        if kind in self._runs and marks.joins_last(kind, thing, flags):
            last = len(marks) - 1
            if kind is not Kind.LINES or marks[last].last >= self._entered:
                marks.end(last, row.seq)
                return self._current, last
        return self._current, marks.add(kind, row.seq, thing, flags)

    def _known(
        self, kind: Kind, first_seq: int, row: "MessageRow", session: "Session", thing: Any
    ) -> Owner:
        """Return the mark of something that may be there already."""
        index = self._current.marks.find(kind, first_seq)
        return self._mark(kind, row, session, thing) if index is None else (self._current, index)

    # The conversation.

    def _message(self, row: "MessageRow", session: "Session", event: Any) -> Owner:
        found = _message_of(session, event)
        if found is None:
            return self._current, "chunks that belong to no message"
        return self._known(Kind.MESSAGE, found.first_seq, row, session, found)

    def _prompt(
        self, row: "MessageRow", session: "Session | None", event: v.PromptSent
    ) -> Owner | None:
        if session is None:
            return None
        if event.prompt_seq is not None:
            self._prompt_again(session, event.prompt_seq, event)
            return None
        if event.is_turn:
            owner = self._mark(Kind.MESSAGE, row, session, session.messages[-1])
        else:
            owner = self._mark(Kind.PROMPT, row, session, None)
        self._asked[row.seq] = owner
        return owner

    def _prompt_again(self, session: "Session", seq: int, event: v.PromptSent) -> None:
        """Make a mark that of what a prompt turned out to be."""
        marks = self._current.marks
        index = marks.find(Kind.MESSAGE, seq)
        index = marks.find(Kind.PROMPT, seq) if index is None else index
        if index is None:
            return
        found = (one for one in reversed(session.messages) if one.first_seq == seq)
        message = next(found, None) if event.is_turn else None
        marks.become(index, Kind.PROMPT if message is None else Kind.MESSAGE, message)

    def _prompt_answer(
        self, row: "MessageRow", session: "Session | None", event: v.PromptAnswered
    ) -> Owner | None:
        if event.is_turn and session is not None:
            return self._turn_end(row, session)
        asked = self._asked.get(event.prompt_seq)
        if asked is not None and isinstance(asked[1], int):
            marks, index = asked[0].marks, asked[1]
            if marks[index].kind is Kind.PROMPT:
                marks.become(index, Kind.PROMPT, event.message_id)
        return None  # the answer belongs to the prompt

    def _activity(
        self, row: "MessageRow", session: "Session", event: v.ActivityChanged
    ) -> Owner | None:
        return self._turn_end(row, session) or (
            self._mark(Kind.CHANGE, row, session, "state_update")
            if "error" in event.activity
            else (self._current, "state updates that end no turn")
        )

    def _turn_end(self, row: "MessageRow", session: "Session") -> Owner | None:
        turn = next((one for one in reversed(session.turns) if one.ended_seq == row.seq), None)
        if turn is None:
            return None
        section = self._current
        if section.usage_seq is not None:
            section.usages[row.seq] = section.usage_seq
        return self._mark(Kind.TURN_END, row, session, turn)

    def _tool_call(self, row: "MessageRow", session: "Session", event: Any) -> Owner:
        id_: str = event.tool_call_id
        call = session.tool_calls[id_]
        section, index = self._known(Kind.TOOL_CALL, call.first_seq, row, session, id_)
        marks, is_final = section.marks, call.status in FINAL_STATUSES
        if isinstance(index, int):
            if call.first_seq == row.seq:
                marks.end(index, row.seq if is_final else 0)
            elif session.window is not None and call.first_seq < session.window:
                pass  # told again: it did not last until now
            elif is_final != bool(marks[index].last):
                marks.end(index, row.seq if is_final else 0)
        return section, index

    def _terminal(self, row: "MessageRow", session: "Session", event: Any) -> Owner:
        key = (session.session_id, event.owner.value, event.terminal_id)
        owner = self._terminals.get(key)
        asked = None if row.request_seq is None else self._asked.get(row.request_seq)
        makes = isinstance(event, v.TerminalCreated) and asked is not None
        if owner is None and makes and asked is not None and isinstance(asked[1], int):
            owner = asked
            asked[0].marks.become(asked[1], Kind.TERMINAL, key[1:])
        elif owner is None:
            owner = self._mark(Kind.TERMINAL, row, session, key[1:])
        elif makes and asked is not None:
            _move(asked, owner)
        self._terminals[key] = owner
        return owner

    def _plan(self, row: "MessageRow", session: "Session", event: v.PlanUpdated) -> Owner:
        return self._mark(Kind.PLAN, row, session, event.plan_id)

    def _notice(self, row: "MessageRow", session: "Session", _event: v.NoticeGiven) -> Owner:
        return self._mark(Kind.NOTICE, row, session, None)

    def _compaction(self, row: "MessageRow", session: "Session", event: Any) -> Owner:
        id_ = event.compaction_id
        first = session.compactions[id_].first_seq
        return self._known(Kind.COMPACTION, first, row, session, id_)

    def _subagent(self, row: "MessageRow", session: "Session", event: v.SubagentUpdated) -> Owner:
        first = session.subagents[event.child_id].first_seq
        return self._known(Kind.SUBAGENT, first, row, session, event.child_id)

    def _session_message(self, row: "MessageRow", session: "Session", event: Any) -> Owner:
        id_ = event.message_id
        first = session.session_messages[id_].first_seq
        return self._known(Kind.SESSION_MESSAGE, first, row, session, id_)

    # Requests, answers, and what has no meaning here.

    def _request(self, row: "MessageRow", session: "Session | None", event: Event) -> Owner:
        method = row.method or ""
        terminal = (row.session_id, "client", row.terminal_id or "")
        if method.startswith("terminal/") and terminal in self._terminals:
            owner = self._terminals[terminal]
        else:
            kind = _ASKING.get(type(event), Kind.REQUEST)
            owner = self._mark(kind, row, session, row.seq if kind is Kind.PERMISSION else method)
        self._asked[row.seq] = owner
        return owner

    def _opened(self, row: "MessageRow", _session: "Session | None", _event: Event) -> Owner | None:
        if row.request_method not in _MAKES or row.request_seq is None:
            return None
        section = self._current
        section.opened.append((row.request_seq, row.seq))
        asked = self._asked.pop(row.request_seq, None)
        if asked is not None and isinstance(asked[1], int):
            section.hidden[OPENING] += asked[0].marks.remove(asked[1])
        return section, OPENING

    def _answer(
        self, row: "MessageRow", session: "Session | None", event: v.RequestAnswered
    ) -> Owner | None:
        if event.request_seq is not None:
            return None  # it belongs to its request
        return self._mark(Kind.ANSWER, row, session, row.stream)

    def _notification(self, row: "MessageRow", session: "Session | None", _event: Event) -> Owner:
        return self._mark(Kind.NOTIFICATION, row, session, f"{row.stream} {row.method}")

    def _update(
        self, row: "MessageRow", session: "Session | None", event: v.UpdateReceived
    ) -> Owner | None:
        if row.request_seq is not None:
            return None
        return self._mark(Kind.UPDATE, row, session, event.kind)

    def _lines(self, row: "MessageRow", session: "Session | None", _event: Event) -> Owner:
        return self._mark(Kind.LINES, row, session, (row.stream, row.kind))

    def _change(self, row: "MessageRow", session: "Session | None", _event: Event) -> Owner | None:
        if row.request_seq is not None:
            return None
        return self._mark(Kind.CHANGE, row, session, row.session_update)

    def _info(
        self, row: "MessageRow", session: "Session", event: v.SessionInfoChanged
    ) -> Owner | None:
        if isinstance(event.title, Unset):
            return self._current, "session infos without a title"
        return self._change(row, session, event)

    def _usage(self, row: "MessageRow", _session: "Session", _event: Event) -> Owner:
        self._current.usage_seq = row.seq
        return self._current, "reports of the context's use"

    def _commands(self, _row: "MessageRow", _session: "Session", _event: Event) -> Owner:
        return self._current, "lists of commands"


_WITH_REQUEST = (v.PermissionAnswered, v.ElicitationAnswered, v.RequestAnswered)

OPENING = "requests that made the session, and their answers"
"""The sort of messages that the head of a session tells."""

_ASKING: dict[type[Event], Kind] = {
    v.PermissionRequested: Kind.PERMISSION,
    v.ElicitationRequested: Kind.QUESTION,
}

_PLACES: dict[type[Event], Callable[[Gatherer, Any, Any, Any], Owner | None]] = {
    v.PromptSent: Gatherer._prompt,
    v.PromptAnswered: Gatherer._prompt_answer,
    v.MessageUpdated: Gatherer._message,
    v.MessageChunkAdded: Gatherer._message,
    v.ActivityChanged: Gatherer._activity,
    v.ToolCallUpdated: Gatherer._tool_call,
    v.ToolCallRestarted: Gatherer._tool_call,
    v.ToolCallContentAdded: Gatherer._tool_call,
    v.TerminalUpdated: Gatherer._terminal,
    v.TerminalCreated: Gatherer._terminal,
    v.TerminalOutputAdded: Gatherer._terminal,
    v.PlanUpdated: Gatherer._plan,
    v.PlanRemoved: Gatherer._change,
    v.NoticeGiven: Gatherer._notice,
    v.CompactionUpdated: Gatherer._compaction,
    v.CompactionSummaryAdded: Gatherer._compaction,
    v.SubagentUpdated: Gatherer._subagent,
    v.SessionMessageUpdated: Gatherer._session_message,
    v.SessionMessageChunkAdded: Gatherer._session_message,
    v.PermissionRequested: Gatherer._request,
    v.ElicitationRequested: Gatherer._request,
    v.RequestSent: Gatherer._request,
    v.ReplayBegan: Gatherer._request,
    v.SessionOpened: Gatherer._opened,
    v.RequestAnswered: Gatherer._answer,
    v.NotificationSent: Gatherer._notification,
    v.TurnCancelled: Gatherer._notification,
    v.RequestCancelled: Gatherer._notification,
    v.ElicitationCompleted: Gatherer._notification,
    v.UpdateReceived: Gatherer._update,
    v.LineWritten: Gatherer._lines,
    v.ModeChanged: Gatherer._change,
    v.ConfigOptionsChanged: Gatherer._change,
    v.SessionInfoChanged: Gatherer._info,
    v.UsageChanged: Gatherer._usage,
    v.CommandsChanged: Gatherer._commands,
}
"""Where events stand; those that are not here belong to the request that they answer."""


def _answered(row: "MessageRow", events: list[Event]) -> list[int]:
    """Return the requests that a message answers: one, or all of an array that was refused."""
    if row.request_seq is not None:
        return [row.request_seq]
    found = []
    for event in events if row.kind == "error" else ():
        if isinstance(event, v.PromptAnswered):
            found.append(event.prompt_seq)
        elif isinstance(event, _WITH_REQUEST) and event.request_seq is not None:
            found.append(event.request_seq)
    return found


def _message_of(session: "Session", event: Any) -> "Message | None":
    """Return the message that an event just changed; None for none."""
    messages = session.messages
    if messages and messages[-1].last_seq == event.seq:
        return messages[-1]
    known = session.known_messages.get((event.role.value, event.message_id))
    if known is not None:
        return known
    place = session.open_prompt if event.role.value == "user" else None  # an echo of the prompt
    if place is None:
        place = session.open_message
    return None if place is None else messages[place]


def _move(source: Owner, target: Owner) -> None:
    """Let the messages of one mark belong to another."""
    if isinstance(source[1], int) and isinstance(target[1], int):
        for _ in range(source[0].marks.remove(source[1])):
            target[0].marks.count(target[1])


def _note(section: Section, index: int, seq: int, note: str) -> None:
    known = section.notes.get(note)
    if known is not None:
        known[2] += 1
    elif len(section.notes) < _MOST_NOTES:
        section.notes[note] = [index, seq, 0]
