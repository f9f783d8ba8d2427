"""How one thing came to be what it is: each message that changed it, and what it changed."""

import base64
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from acp_proxy.state.growing import Blocks
from acp_proxy.views.changes import MISSING, Change, change_object, change_text, changes
from acp_proxy.views.preview import clip
from acp_proxy.views.safe_text import decode, visible
from acp_proxy.views.state_json import terminal_object, tool_call_object
from acp_proxy.views.units import since_start

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from acp_proxy.events.event import Event, Owner
    from acp_proxy.state.fold import State
    from acp_proxy.state.growing import Output

_WIDTH = 100
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
    known: dict[str, tuple[dict[str, Any], _LastContent]] = {}
    for state, events in steps:
        for session_id, about in _by_session(events, session, tool_call_id=id_).items():
            call = state.sessions[session_id].tool_calls.get(id_)
            if call is None:
                continue
            last, content = known.get(session_id, ({}, _LastContent()))
            after = _as_it_stands(tool_call_object(replace(call, content=Blocks())))
            place, old, new = content.changed(call.content)
            before = {**last, "content": old} if last else {}
            entry = _entry(session_id, state.seq, about, before, {**after, "content": new})
            for change in entry["changes"] if place else ():
                if change["path"][0] == "content":
                    change["path"][1] += place
            yield entry
            known[session_id] = after, content


class _LastContent:
    """A tool call's content as it was: the very list, which is only ever appended to."""

    def __init__(self) -> None:
        self._known: Blocks | None = None
        self._length = 0

    def changed(self, now: Blocks) -> tuple[int, list[Any], list[Any]]:
        """Return from which place on the content may differ, and both contents from there on.

        Costs what came since the last time, unless the content was replaced.
        """
        before, length = self._known, self._length
        self._known, self._length = now, len(now)
        if before is now:
            return length, [], [now[place] for place in range(length, len(now))]
        old = [] if before is None else [before[place] for place in range(length)]
        return 0, old, list(now)


def terminal_history(
    steps: "Iterable[tuple[State, list[Event]]]",
    id_: str,
    session: str | None,
    owners: "Iterable[Owner]",
) -> "Iterator[dict[str, Any]]":
    """Yield the messages about a terminal, or about each of that id.

    Args:
        steps: The state after each message, and the message's events.
        id_: The terminal's.
        session: Only in this session.
        owners: Only of these owners.

    Yields:
        As ``tool_call_history`` does, with ``owner``, and ``output`` when that changed: its
        ``bytes``, and in base64 what was ``appended``, or what all was ``replaced`` by; neither
        of them when the output is unknown again.

    """
    known: dict[tuple[str, Owner], tuple[dict[str, Any], _LastOutput]] = {}
    for state, events in steps:
        for owner in owners:
            found = _by_session(events, session, terminal_id=id_, owner=owner)
            for session_id, about in found.items():
                terminal = state.sessions[session_id].terminals.get((owner.value, id_))
                if terminal is None:
                    continue
                before, output = known.get((session_id, owner), ({}, _LastOutput()))
                # Not with its output: that may be long, and is told by what came.
                after = _as_it_stands(terminal_object(replace(terminal, output=None)))
                if terminal.output_meta is not None:
                    after["output"] = {"_meta": terminal.output_meta}
                entry = _entry(session_id, state.seq, about, before, after, owner=owner.value)
                if (told := output.changed(terminal.output)) is not None:
                    entry["output"] = told
                yield entry
                known[session_id, owner] = after, output


class _LastOutput:
    """A terminal's output as it was: the very object, which is only ever appended to."""

    def __init__(self) -> None:
        self._known: Output | None = None
        self._length = 0

    def changed(self, now: "Output | None") -> dict[str, Any] | None:
        """Return what changed since the last time, None when nothing did; costs what came."""
        before, length = self._known, self._length
        self._known, self._length = now, 0 if now is None else len(now)
        if now is None:
            return None if before is None else {}
        goes_on = before is now or (
            before is not None and bytes(now).startswith(bytes(before)[:length])
        )
        if goes_on and len(now) == length:
            return None
        word, new = ("appended", now.tail(length)) if goes_on else ("replaced", bytes(now))
        return {"bytes": len(now), word: base64.b64encode(new).decode()}


def _as_it_stands(thing: dict[str, Any]) -> dict[str, Any]:
    """Return a thing whose ``_meta`` does not go on changing with the state."""
    return {**thing, "_meta": dict(thing["_meta"])} if "_meta" in thing else thing


def _entry(
    session_id: str,
    seq: int,
    about: "list[Event]",
    before: dict[str, Any],
    after: dict[str, Any],
    **more: Any,
) -> dict[str, Any]:
    notes = [note for event in about for note in event.notes]
    return {
        "sessionId": session_id,
        **more,
        "seq": seq,
        "events": [type(event).__name__ for event in about],
        **({"notes": notes} if notes else {}),
        "changes": [
            change_object(change)
            for change in changes(before, after)
            if change.path[0] not in _ASIDE
        ],
    }


def _by_session(
    events: "list[Event]", session: str | None, **fields: Any
) -> "dict[str, list[Event]]":
    """Return a message's events that have these fields, by session."""
    found: dict[str, list[Event]] = {}
    for event in events:
        if (
            event.session_id is not None
            and session in (None, event.session_id)
            and all(getattr(event, name, None) == value for name, value in fields.items())
        ):
            found.setdefault(event.session_id, []).append(event)
    return found


def history_page(history: "Iterable[dict[str, Any]]", times: dict[int, int | None]) -> str:
    """Return that history for people; whose each message is stands there when it is told anew."""
    lines: list[str] = []
    place: tuple[str, str] | None = None
    for entry in history:
        here = entry["sessionId"], entry.get("owner", "")
        if place not in (None, here):
            lines.append(visible(" ".join(["session", *here]).rstrip()))
        place = here
        when = since_start(times.get(entry["seq"]))
        lines.append(f"{entry['seq']:>5}  {when:>8}  {' '.join(entry['events'])}")
        lines += [f"    note: {visible(note)}" for note in entry.get("notes", ())]
        lines += [f"    {change_text(as_change(change))}" for change in entry["changes"]]
        if "output" in entry:
            lines.append(f"    ~ output: {_output_text(entry['output'])}")
        elif not entry["changes"]:
            lines.append("    changes nothing")
    return "\n".join(lines)


def _output_text(output: dict[str, Any]) -> str:
    if not output:
        return "unknown again"
    word = "appended" if "appended" in output else "replaced"
    new = base64.b64decode(output[word])
    shown = clip(visible(decode(new[:_WIDTH])), _WIDTH)
    if word == "appended":
        return f"{len(new)} bytes more, {output['bytes']} in all: {shown}"
    return f"{len(new)} bytes in place of what was: {shown}"


def as_change(written: dict[str, Any]) -> Change:
    """Return a change from its JSON form."""
    return Change(
        tuple(written["path"]), written.get("before", MISSING), written.get("after", MISSING)
    )
