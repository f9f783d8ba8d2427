"""A line of ``tail`` as text for people, harmless and in columns, and as an object for programs."""

from typing import Any, NamedTuple

from acp_proxy.views.columns import cut, pad, wrap
from acp_proxy.views.jsonlines import rfc3339
from acp_proxy.views.safe_text import visible
from acp_proxy.views.tables import short_id
from acp_proxy.views.units import since_start

_LONGEST = 1000  # characters of a line that no terminal cuts
_NARROW = 72  # columns; below, the heads of the lines take no more room than they need
_COLOURS = {"client": "36", "agent": "32", "stderr": "33", "proxy": "35"}


class TailLine(NamedTuple):
    """One line.

    Attributes:
        connection_id: Whose it is.
        seq: The message that it tells of, the first when there are several.
        last_seq: The last of them.
        elapsed_ns: When that first one came, since the connection began.
        time_ns: The same as time of day.
        who: ``client``, ``agent``, ``stderr``, or ``proxy`` of the end.
        what: What it is, in a word or two: ``prompt``, ``tool call``, ``turn`` ...
        text: What is to be said; as it was sent, so harmful perhaps.
        session_id: Of which session.
        details: The same for programs, by the protocol's names.
        history: It repeats what was (a session was loaded).
        goes_on: It goes on with the message of an earlier line.
        flags: What is odd about its message, in the log's words.
        notes: The same in sentences.
        of_many: There are other sessions on this connection.

    """

    connection_id: int
    seq: int
    last_seq: int
    elapsed_ns: int | None
    time_ns: int | None
    who: str
    what: str
    text: str
    session_id: str | None = None
    details: dict[str, Any] = {}  # noqa: RUF012 - never changed
    history: bool = False
    goes_on: bool = False
    flags: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    of_many: bool = False


class Look(NamedTuple):
    """How lines are to look.

    Attributes:
        columns: Of the terminal; None when they do not go to one.
        colour: Whether to colour who speaks.
        numbered: Whether to say which connection it is.
        full: All of the text, on as many lines as it takes.

    """

    columns: int | None = None
    colour: bool = False
    numbered: bool = False
    full: bool = False


def line_text(line: TailLine, look: Look) -> str:
    """Return a line; several, of which the others are indented, when all of the text is wanted."""
    columns = look.columns
    if columns is not None and columns < _NARROW:
        head = f"{since_start(line.elapsed_ns)} {line.who} {line.what}: ".lstrip()
        indent = 2
    else:
        head = f"{since_start(line.elapsed_ns):>9}  {line.who:<6}  {pad(line.what, 10)}  "
        indent = len(head)
    if look.numbered:
        head = f"#{line.connection_id:<3} {head}"
        indent += 5 if indent > 2 else 0  # noqa: PLR2004 - the narrow indent
    text = _sentence(line, full=look.full)
    first, *rest = _lines(text, len(head), indent, look)
    if look.colour:
        head = head.replace(line.who, f"\x1b[{_COLOURS[line.who]}m{line.who}\x1b[0m", 1)
    return "\n".join([(head + first).rstrip(), *[(" " * indent + one).rstrip() for one in rest]])


def _lines(text: str, head: int, indent: int, look: Look) -> list[str]:
    """Return the text as lines; the first stands behind a head, the others are indented."""
    columns = look.columns
    if not look.full:
        return [cut(text, _LONGEST if columns is None else max(columns - head, 1))]
    parts = text.split("\n")
    if columns is None:
        return parts
    first, *rest = wrap(parts[0], max(columns - head, 8))
    if rest:
        rest = wrap(" ".join(rest), max(columns - indent, 8))
    for part in parts[1:]:
        rest += wrap(part, max(columns - indent, 8))
    return [first, *rest]


def _sentence(line: TailLine, *, full: bool) -> str:
    """Return a line's text, harmless, on one line unless all of it is wanted."""
    if full:
        text = "\n".join(visible(part) for part in line.text.rstrip("\n").split("\n"))
    elif line.who == "stderr":
        text = visible(line.text)  # laid out with spaces often
    else:
        text = visible(" ".join(line.text.split()))
    marks = [f"[{visible(' '.join(line.flags))}]"] if line.flags else []
    marks += [f"s:{visible(short_id(line.session_id))}"] if line.session_id and line.of_many else []
    marks += ["(history)"] if line.history else []
    notes = f" ({visible('; '.join(line.notes))})" if line.notes else ""
    return " ".join([*marks, ("…" if line.goes_on else "") + text]) + notes


def line_object(line: TailLine) -> dict[str, Any]:
    """Return a line as ``tail --json`` prints it; what it does not have is left out."""
    candidates = {
        "connection": line.connection_id,
        "seq": line.seq,
        "lastSeq": line.last_seq,
        "time": rfc3339(line.time_ns),
        "elapsed_ns": line.elapsed_ns,
        "from": line.who,
        "what": line.what,
        "text": line.text,
        "sessionId": line.session_id,
        **line.details,
        "history": line.history or None,
        "goesOn": line.goes_on or None,
        "notes": list(line.notes) or None,
    }
    found = {key: value for key, value in candidates.items() if value is not None}
    return {**found, "flags": list(line.flags)}
