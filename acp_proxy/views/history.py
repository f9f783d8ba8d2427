"""How one tool call came to be what it is: each message that changed it, and what it changed."""

from typing import TYPE_CHECKING, Any

from acp_proxy.views.changes import MISSING, Change, change_object, change_text, changes
from acp_proxy.views.safe_text import visible
from acp_proxy.views.state_json import tool_call_object
from acp_proxy.views.units import since_start

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from acp_proxy.events.event import Event
    from acp_proxy.state.fold import State

_ASIDE = ("firstSeq", "lastSeq")  # what a message about the call always changes, or never again


def tool_call_history(
    steps: "Iterable[tuple[State, list[Event]]]", id_: str, session: str | None
) -> "Iterator[dict[str, Any]]":
    """Yield the messages about a tool call.

    Args:
        steps: The state after each message, and the message's events.
        id_: The tool call's.
        session: Only in this session.

    Yields:
        ``sessionId``, ``seq``, ``events`` (their names), ``notes`` and ``changes``, which may be none.

    """
    known: dict[str, dict[str, Any]] = {}
    for state, events in steps:
        for session_id, about in _by_session(events, id_).items():
            call = state.sessions[session_id].tool_calls.get(id_)
            if call is None or session not in (None, session_id):
                continue
            after = tool_call_object(call)
            found = changes(known.get(session_id, {}), after)
            known[session_id] = after
            notes = [note for event in about for note in event.notes]
            yield {
                "sessionId": session_id,
                "seq": state.seq,
                "events": [type(event).__name__ for event in about],
                **({"notes": notes} if notes else {}),
                "changes": [
                    change_object(change) for change in found if change.path[0] not in _ASIDE
                ],
            }


def _by_session(events: "list[Event]", id_: str) -> "dict[str, list[Event]]":
    """Return a message's events about a tool call, by session."""
    found: dict[str, list[Event]] = {}
    for event in events:
        if getattr(event, "tool_call_id", None) == id_ and event.session_id is not None:
            found.setdefault(event.session_id, []).append(event)
    return found


def history_page(history: "Iterable[dict[str, Any]]", times: dict[int, int | None]) -> str:
    """Return that history for people."""
    lines: list[str] = []
    for entry in history:
        when = since_start(times.get(entry["seq"]))
        lines.append(f"{entry['seq']:>5}  {when:>8}  {' '.join(entry['events'])}")
        lines += [f"    note: {visible(note)}" for note in entry.get("notes", ())]
        lines += [f"    {change_text(as_change(change))}" for change in entry["changes"]]
        if not entry["changes"]:
            lines.append("    changes nothing")
    return "\n".join(lines)


def as_change(written: dict[str, Any]) -> Change:
    """Return a change from its JSON form."""
    return Change(
        tuple(written["path"]), written.get("before", MISSING), written.get("after", MISSING)
    )
