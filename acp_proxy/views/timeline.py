"""What went on during one turn: bars from message to message, to be drawn over time."""

from typing import TYPE_CHECKING, Any, NamedTuple

from acp_proxy.events.labels import FINAL_STATUSES
from acp_proxy.views.state_json import permission_object
from acp_proxy.views.state_page import answer_text, exit_text, permission_title
from acp_proxy.views.tail_words import blocks_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from acp_proxy.log.rows import MessageRow
    from acp_proxy.state.fold import State
    from acp_proxy.state.sessions import Session
    from acp_proxy.state.turns import Turn

_ROLES = {"agent": "message", "thought": "thought"}
_LONGEST = 200  # characters of a label


class Segment(NamedTuple):
    """From one message to another; without an end, it had not ended with the turn."""

    seq: int
    end_seq: int | None


class Bar(NamedTuple):
    """One line of the chart.

    Attributes:
        kind: ``turn``, ``message``, ``thought``, ``tool call``, ``permission``, ``terminal``,
            ``request``.
        label: What it is about, as it was sent.
        status: How it stands at the end.
        segments: In order; several where things of one sort share a line.
        id: The tool call's or terminal's.

    """

    kind: str
    label: str
    status: str
    segments: list[Segment]
    id: str | None = None


class Window(NamedTuple):
    """A turn and its messages.

    Attributes:
        number: The turn, counted from 1 in what it was chosen from.
        session: Its session.
        turn: It.
        begin: Its first message: the prompt, if it has one.
        end: Its last, or the last that there is.

    """

    number: int
    session: "Session"
    turn: "Turn"
    begin: int
    end: int

    def as_in(self, state: "State") -> "Window":
        """Return the same turn as it was at another point."""
        session = state.sessions[self.session.session_id]
        turn = next(one for one in session.turns if one.started_seq == self.turn.started_seq)
        return self._replace(session=session, turn=turn)


def windows(state: "State", session: str | None) -> list[Window]:
    """Return the turns of a connection, or of one of its sessions, in order."""
    found = [
        (turn.prompt_seq or turn.started_seq, one, turn)
        for one in state.sessions.values()
        if session in (None, one.session_id)
        for turn in one.turns
    ]
    found.sort(key=lambda item: item[0])
    return [
        Window(number, one, turn, begin, state.seq if turn.ended_seq is None else turn.ended_seq)
        for number, (begin, one, turn) in enumerate(found, 1)
    ]


def bars(window: Window, rows: "Iterable[MessageRow]") -> list[Bar]:
    """Return what is to be drawn, the turn first, then in order of beginning.

    Args:
        window: The turn.
        rows: The requests, answers and tool call updates from its begin to its end.

    """
    known = list(rows)
    turn = window.turn
    how = "running" if turn.ended_seq is None else turn.stop_reason or "ended"
    status = "failed" if turn.error is not None else how
    whole = Bar("turn", _prompt(window), status, [Segment(window.begin, turn.ended_seq)])
    others = [
        *_messages(window), *_tool_calls(window, known), *_permissions(window),
        *_terminals(window), *_requests(window, known),
    ]  # fmt: skip
    return [whole, *sorted(others, key=lambda bar: bar.segments[0].seq)]


def seqs_of_bars(found: list[Bar]) -> set[int]:
    """Return the messages whose times are needed."""
    return {seq for bar in found for segment in bar.segments for seq in segment if seq is not None}


def _prompt(window: Window) -> str:
    for message in window.session.messages:
        if message.role == "user" and message.first_seq >= window.begin:
            is_ours = message.first_seq <= window.end
            return blocks_text(list(message.content))[:_LONGEST] if is_ours else ""
    return ""


def _segment(window: Window, first: int, last: int | None) -> Segment | None:
    """Return the part of something that lies in the turn, None when nothing does."""
    if first > window.end or (last is not None and last < window.begin):
        return None
    end = None if last is None or last > window.end else last
    return Segment(max(first, window.begin), end)


def _messages(window: Window) -> "Iterator[Bar]":
    for role, kind in _ROLES.items():
        segments = [
            segment
            for message in window.session.messages
            if message.role == role
            and (segment := _segment(window, message.first_seq, message.last_seq)) is not None
        ]
        if segments:
            yield Bar(kind, "", f"x{len(segments)}" if len(segments) > 1 else "", segments)


def _tool_calls(window: Window, rows: "list[MessageRow]") -> "Iterator[Bar]":
    ends: dict[str, int] = {}
    for row in rows:  # what is said after a call's end does not make it longer
        if row.tool_call_id is not None and "after-final" not in row.flags:
            ends[row.tool_call_id] = row.seq
    for call in window.session.tool_calls.values():
        last = None
        if call.status in FINAL_STATUSES:
            last = ends.get(call.tool_call_id, call.last_seq)
        segment = _segment(window, call.first_seq, last)
        if segment is not None:
            label = call.title or call.name or call.kind
            yield Bar("tool call", label[:_LONGEST], call.status, [segment], call.tool_call_id)


def _permissions(window: Window) -> "Iterator[Bar]":
    for permission in window.session.permissions.values():
        segment = _segment(window, permission.seq, permission.answered_seq)
        if segment is not None:
            told = permission_object(permission)
            label = permission_title(told)
            call = window.session.tool_calls.get(label)  # it was asked for by the id alone
            if call is not None:
                label = (call.title or label)[:_LONGEST]
            yield Bar("permission", label, answer_text(told), [segment])


def _terminals(window: Window) -> "Iterator[Bar]":
    for terminal in window.session.terminals.values():
        over = terminal.exit_status is not None or terminal.released
        segment = _segment(window, terminal.first_seq, terminal.last_seq if over else None)
        if segment is not None:
            label = " ".join(map(str, [terminal.command or "", *(terminal.args or ())]))
            status = exit_text({"exitStatus": terminal.exit_status})
            yield Bar("terminal", label[:_LONGEST], status, [segment], terminal.terminal_id)


def _requests(window: Window, rows: "list[MessageRow]") -> "Iterator[Bar]":
    """Yield the requests of the turn, those of one method together."""
    answers = {row.request_seq: row for row in rows if row.request_seq is not None}
    found: dict[tuple[str, str], list[Segment]] = {}
    errors: dict[tuple[str, str], int] = {}
    for row in rows:
        if row.kind != "request" or row.method in ("session/prompt", "session/request_permission"):
            continue
        if row.session_id not in (None, window.session.session_id):
            continue
        key = (row.stream, row.method or "")
        answer = answers.get(row.seq)
        found.setdefault(key, []).append(Segment(row.seq, None if answer is None else answer.seq))
        errors[key] = errors.get(key, 0) + (answer is not None and answer.kind == "error")
    for key, segments in found.items():
        parts = [f"x{len(segments)}"] if len(segments) > 1 else []
        unanswered = sum(segment.end_seq is None for segment in segments)
        parts += [f"{errors[key]} failed"] if errors[key] else []
        parts += [f"{unanswered} open"] if unanswered else []
        yield Bar("request", f"{key[1]} ({key[0]})", ", ".join(parts), segments)


def timeline_document(
    connection_id: int, window: Window, found: list[Bar], times: dict[int, int | None]
) -> dict[str, Any]:
    """Return the bars as ``timeline --json`` prints them."""
    return {
        "connection": connection_id,
        "sessionId": window.session.session_id,
        "turn": window.number,
        "bars": [
            {
                "kind": bar.kind,
                "label": bar.label,
                **({} if bar.id is None else {"id": bar.id}),
                "status": bar.status,
                "segments": [
                    {
                        "seq": segment.seq,
                        "endSeq": segment.end_seq,
                        "begun_ns": times.get(segment.seq),
                        "ended_ns": None if segment.end_seq is None else times.get(segment.end_seq),
                    }
                    for segment in bar.segments
                ],
            }
            for bar in found
        ],
    }
