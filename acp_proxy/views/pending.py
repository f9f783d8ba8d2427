"""Who waits for whom: what is open on a connection at one point, and a conclusion in words."""

from typing import TYPE_CHECKING, NamedTuple

from acp_proxy.events.labels import FINAL_STATUSES
from acp_proxy.views.parts import Thing
from acp_proxy.views.safe_text import decode, visible
from acp_proxy.views.state_page import permission_title
from acp_proxy.views.state_tables import terminal_command, terminal_state
from acp_proxy.views.units import count, duration

if TYPE_CHECKING:
    from acp_proxy.log.rows import ConnectionRow, MessageRow

_SIDES = ("client", "agent")
_WORKING = ("running", "requires_action")
_ASKS = "session/request_permission"


class Clock(NamedTuple):
    """What ages are measured to: a time of day, or one since the connection began."""

    now_ns: int | None
    elapsed_ns: int | None

    def age(self, row: "MessageRow | None") -> int | None:
        """Return how long ago a message came, None when that is unknown."""
        if row is None:
            return None
        if self.now_ns is not None:
            return None if row.time_ns is None else self.now_ns - row.time_ns
        if self.elapsed_ns is None or row.elapsed_ns is None:
            return None
        return self.elapsed_ns - row.elapsed_ns


class Seen(NamedTuple):
    """What the log says of a connection up to one message.

    Attributes:
        connection: Which.
        is_end: It was asked for what is true now, not for an earlier point.
        document: The state just after that message.
        unanswered: The requests without an answer.
        newest: The last message of each stream that wrote any.
        stderr: The last lines of the agent's stderr.
        clock: What ages are measured to.

    """

    connection: "ConnectionRow"
    is_end: bool
    document: Thing
    unanswered: "list[MessageRow]"
    newest: "dict[str, MessageRow]"
    stderr: "list[MessageRow]"
    clock: Clock


def unfinished(document: Thing) -> list[Thing]:
    """Return the sessions that are not closed, with what is not over in them, and only that."""
    found = []
    for session in document["sessions"]:
        parts = {
            "toolCalls": [c for c in session["toolCalls"] if c["status"] not in FINAL_STATUSES],
            "terminals": [
                t for t in session["terminals"] if not ("exitStatus" in t or "released" in t)
            ],
            "permissions": [p for p in session["permissions"] if p["status"] == "pending"],
        }
        working = session.get("activity", {}).get("state") in _WORKING
        if "closed" not in session and (working or any(parts.values())):
            activity = {"activity": session["activity"]} if working else {}
            found.append({"sessionId": session["sessionId"], **parts, **activity})
    return found


def pending_document(seen: Seen) -> Thing:
    """Return all that is open, as ``pending --json`` prints it; ages are null when unknown."""
    row, age = seen.connection, seen.clock.age
    ended = row.ended if seen.is_end else None
    document = {
        "connection": row.id,
        "at": seen.document["at"],
        "status": "running" if not seen.is_end else row.status if ended is None else ended.status,
        "ended": ended is not None,
        "requests": [
            {
                "from": request.stream,
                "seq": request.seq,
                "id": request.id,
                "method": request.method,
                **({} if request.session_id is None else {"sessionId": request.session_id}),
                "age_ns": age(request),
            }
            for request in seen.unanswered
        ],
        "sessions": unfinished(seen.document),
        "silence_ns": {side: age(last) for side, last in seen.newest.items()},
        "stderr": [decode(line.raw).rstrip("\r\n") for line in seen.stderr],
    }
    if seen.is_end:
        document["exitCode"], document["signal"] = (None, None) if ended is None else ended[1:]
    return {**document, "conclusion": conclusion(document)}


def conclusion(document: Thing) -> str:
    """Return in one line what is stuck, if anything is."""
    if document["ended"]:
        return _after_the_end(document)
    requests = document["requests"]
    for asker, other in (("agent", "client"), ("client", "agent")):
        asked = [request for request in requests if request["from"] == asker]
        if asked:
            first = next((one for one in asked if one["method"] == _ASKS), asked[0])
            return _waiting(document, first, other, len(asked) - 1)
    return _unasked(document)


def _waiting(document: Thing, request: Thing, other: str, more: int) -> str:
    since = _for(request["age_ns"])
    wrote = document["silence_ns"].get(other)
    last = f"; it last wrote {_ago(wrote)}" if wrote is not None else ""
    human = " (a person is asked)" if request["method"] == _ASKS else ""
    rest = f", nor {count(more, 'other request')}" if more else ""
    return f"the {other} has not answered {request['method']}{human}{since}{rest}{last}"


def _unasked(document: Thing) -> str:
    """Say what goes on when nobody waits for an answer."""
    working = [one for one in document["sessions"] if "activity" in one]
    if working:
        state = working[0]["activity"]["state"]
        wrote = document["silence_ns"].get("agent")
        last = f"; it last wrote {_ago(wrote)}" if wrote is not None else ""
        doing = "works on a turn" if state == "running" else "waits for the user"
        return f"no request is open; the agent {doing} ({state}){last}"
    parts = [
        count(sum(len(one[key]) for one in document["sessions"]), noun)
        for key, noun in (("toolCalls", "tool call"), ("terminals", "terminal"))
        if any(one[key] for one in document["sessions"])
    ]
    if parts:
        return f"no request is open, but {' and '.join(parts)} did not come to an end"
    return "nothing is pending"


def _after_the_end(document: Thing) -> str:
    how = {
        "exited": f"the agent exited with code {document['exitCode']}",
        "killed": f"the agent was killed by signal {document['signal']}",
        "lost": "the proxy was killed, so nobody saw how the agent ended",
    }[document["status"]]
    left = []
    for side in _SIDES:
        methods = [r["method"] for r in document["requests"] if r["from"] == side]
        if methods:
            names = ", ".join(dict.fromkeys(methods))
            left.append(f"{count(len(methods), 'request')} of the {side} unanswered ({names})")
    return f"{how}; it left {' and '.join(left)}" if left else f"{how}; no request was left open"


def pending_page(document: Thing, ages: dict[int, int | None]) -> str:
    """Return that document for people, the conclusion first.

    Args:
        document: What ``pending_document`` gave.
        ages: How long ago the messages came that last changed what is unfinished.

    """
    lines = [visible(document["conclusion"]), ""]
    lines.append(f"connection {document['connection']} just after message {document['at']}")
    for side in (*_SIDES, "stderr"):
        name = "agent on stderr" if side == "stderr" else side
        silences = document["silence_ns"]
        said = f"last wrote {_ago(silences[side])}" if side in silences else "wrote nothing"
        lines.append(f"  {name}: {said}")
    for side in _SIDES:
        asked = [request for request in document["requests"] if request["from"] == side]
        lines += _section(
            f"requests of the {side} without an answer",
            [
                f"{one['seq']} {one['method']} #{one['id']}{_for(one['age_ns'])}"
                + (f", session {one['sessionId']}" if "sessionId" in one else "")
                for one in asked
            ],
        )
    for session in document["sessions"]:
        lines += _section(f"session {session['sessionId']}", _open_things(session, ages))
    lines += _section("last lines on stderr", document["stderr"])
    return "\n".join(lines)


def _open_things(session: Thing, ages: dict[int, int | None]) -> list[str]:
    lines = [
        f"permission {one['seq']} pending{_for(ages.get(one['seq']))}: {permission_title(one)}"
        for one in session["permissions"]
    ]
    lines += [
        f"tool call {one['toolCallId']} {one['status']}, last changed "
        f"{_ago(ages.get(one['lastSeq']))}: {one.get('title', one.get('name', one['kind']))}"
        for one in session["toolCalls"]
    ]
    lines += [
        f"terminal {one['terminalId']} ({one['owner']}) {terminal_state(one)}, last changed "
        f"{_ago(ages.get(one['lastSeq']))}: {terminal_command(one)}"
        for one in session["terminals"]
    ]
    if "activity" in session:
        lines.append(f"the agent says {session['activity']['state']}")
    return lines


def _section(title: str, rows: list[str]) -> list[str]:
    return ["", visible(title), *[f"  {visible(row)[:200]}" for row in rows]] if rows else []


def _for(ns: int | None) -> str:
    return f" for {duration(ns)}" if ns else ""


def _ago(ns: int | None) -> str:
    if ns is None:
        return "at an unknown time"
    return f"{duration(ns)} ago" if ns else "just now"
