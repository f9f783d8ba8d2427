"""Rows as JSON, and the interchange format of frames, to and from text.

The keys are the protocol's own names; the interchange lines are a contract that
other programs read and write too (docs/interchange.md).
"""

import base64
import binascii
import json
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any, NamedTuple

import orjson

from acp_proxy.views.safe_text import escape_in_json
from acp_proxy.wire import jsontext
from acp_proxy.wire.shallow import shallow_json

if TYPE_CHECKING:
    from acp_proxy.log.rows import ConnectionRow, FrameRow, MessageRow

_ENDS = ("\r\n", "\n", "")
_LATEST_NS = 2**63 - 1_000_000_000
_LONGEST_QUOTED = 80
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


class BadLineError(ValueError):
    """A line of an interchange file cannot be understood; the text says why."""


class Line(NamedTuple):
    """A frame as an interchange line says it."""

    stream: str
    raw: bytes
    time_ns: int | None
    elapsed_ns: int | None


def dumps(value: object) -> str:
    """Return one line of JSON, whatever the value holds.

    Non-ASCII text stays as it is, but for what could act on a terminal: that is
    escaped the JSON way.
    """
    try:
        return escape_in_json(orjson.dumps(value).decode())
    except orjson.JSONEncodeError:  # a lone surrogate in a path, an integer beyond 64 bits
        return json.dumps(value, separators=(",", ":"))


def rfc3339(time_ns: int | None) -> str | None:
    """Return a wall clock time as text with nanoseconds, in UTC.

    >>> rfc3339(1_700_000_000_123_456_789)
    '2023-11-14T22:13:20.123456789Z'
    """
    if time_ns is None:
        return None
    seconds, rest = divmod(time_ns, 1_000_000_000)
    return f"{_EPOCH + timedelta(seconds=seconds):%Y-%m-%dT%H:%M:%S}.{rest:09d}Z"


def connection_object(row: "ConnectionRow") -> dict[str, Any]:
    """Return a connection as ``connections --json`` shows it; what is unknown is null."""
    return {
        "id": row.id,
        "uuid": row.uuid,
        "label": row.label,
        "command": row.command,
        "cwd": row.cwd,
        "host": row.host,
        "proxyPid": row.proxy_pid,
        "agentPid": row.agent_pid,
        "recordedBy": row.recorded_by,
        "started": rfc3339(row.started_ns),
        "ended": rfc3339(row.ended_ns),
        "duration_ns": row.duration_ns,
        "status": row.status,
        "exitCode": row.exit_code,
        "signal": row.signal,
        "protocolVersion": row.protocol_version,
        "client": row.client,
        "agent": row.agent,
        "frames": row.frames,
        "messages": row.messages,
        "bytes": row.streams,
        "sha256": row.sha256,
        "gaps": row.gaps,
        "notes": row.notes,
        "facts": None if row.facts is None else shallow_json(row.facts),
        "unreadable": row.unreadable,
    }


def message_object(row: "MessageRow", preview: str) -> dict[str, Any]:
    """Return a message as ``messages --json`` shows it; what it does not have is left out."""
    candidates = {
        "seq": row.seq,
        "time": rfc3339(row.time_ns),
        "elapsed_ns": row.elapsed_ns,
        "from": row.stream,
        "kind": row.kind,
        "method": row.method,
        "id": row.id,
        "sessionId": row.session_id,
        "sessionUpdate": row.session_update,
        "toolCallId": row.tool_call_id,
        "terminalId": row.terminal_id,
        "requestSeq": row.request_seq,
        "requestMethod": row.request_method,
        "duration_ns": row.duration_ns,
        "errorCode": row.error_code,
        "reason": row.reason,
        "batchIndex": row.batch_index,
        "bytes": row.size,
        "preview": preview,
    }
    found = {key: value for key, value in candidates.items() if value is not None}
    return {**found, "flags": list(row.flags)}


def header_line(row: "ConnectionRow") -> str:
    """Return the first line of an export.

    An imported connection gives back what its file said; so a second export
    equals the first.
    """
    if row.facts is not None:
        return f'{{"acp-proxy": 1, "connection": {row.facts}}}'
    known = {
        "uuid": row.uuid,
        "label": row.label,
        "command": row.command,
        "cwd": row.cwd,
        "host": row.host,
        "started": rfc3339(row.started_ns),
        "ended": rfc3339(row.ended_ns),
        "duration_ns": row.duration_ns,
        "status": row.status,
        "exitCode": row.exit_code,
        "signal": row.signal,
        "gaps": row.gaps or None,
        "recordedBy": row.recorded_by,
    }
    facts = dumps({key: value for key, value in known.items() if value is not None})
    return f'{{"acp-proxy": 1, "connection": {facts}}}'


def redacted_header(header: str, values: int) -> str:
    """Return a header line that tells how many values were blanked in what follows it.

    What was blanked before an import counts too; without any the line stays as it is.
    """
    if not values:
        return header
    [facts] = [value for key, value in jsontext.members(header.encode()) if key == b'"connection"']
    members = jsontext.members(facts)
    values += sum(blanked_values(facts.decode()) for key, _ in members if key == b'"redacted"')
    kept = [key + b":" + value for key, value in members if key != b'"redacted"']
    text = b",".join([*kept, f'"redacted":{values}'.encode()]).decode()
    return f'{{"acp-proxy": 1, "connection": {{{text}}}}}'


def blanked_values(facts: str) -> int:
    """Return how many values were blanked in a file, as its header tells."""
    values = shallow_json(facts).get("redacted")
    return values if type(values) is int and 0 < values < 2**53 else 0


def frame_line(frame: "FrameRow", raw: bytes) -> str:
    """Return a frame as an interchange line."""
    line: dict[str, Any] = {"seq": frame.seq}
    if frame.time_ns is not None:
        line["time"] = rfc3339(frame.time_ns)
    if frame.elapsed_ns is not None:
        line["elapsed_ns"] = frame.elapsed_ns
    line["from"] = frame.stream
    end = next(end for end in _ENDS if raw.endswith(end.encode()))
    body = raw[: len(raw) - len(end)]
    try:
        line["data"] = body.decode()
    except UnicodeDecodeError:
        line["dataBase64"] = base64.b64encode(body).decode()
    line["end"] = end
    return dumps(line)


def parse_header(text: bytes) -> str | None:
    """Return the connection object of a header line as JSON text, None when this is no header.

    Raises:
        BadLineError: It is one, but not of a kind that is known here.

    """
    found = dict(jsontext.members(text))
    version = found.get(b'"acp-proxy"')
    if version is None:
        return None
    if version != b"1":
        raise BadLineError(
            f"it is of version {version.decode(errors='replace')}, this acp-proxy knows 1; upgrade it"
        )
    facts = found.get(b'"connection"', b"{}")
    try:
        known = shallow_json(facts)
    except ValueError as error:
        raise BadLineError(f"its connection is not JSON: {error}") from error
    if not isinstance(known, dict):
        raise BadLineError("its connection is no object")
    return facts.decode()


def _quoted(value: object) -> str:
    """Return a wrong value for a message about it, cut where it is long."""
    try:
        text = dumps(value)
    except (ValueError, RecursionError):
        return "something nested too deep"
    return text if len(text) <= _LONGEST_QUOTED else f"{text[:_LONGEST_QUOTED]}..."


def parse_line(text: bytes) -> Line:
    """Return the frame that an interchange line says.

    Raises:
        BadLineError: It says none; the text says why.

    """
    line = _members_of(text)
    stream = line.get("from")
    if stream not in ("client", "agent", "stderr"):
        raise BadLineError(f'"from" must be client, agent or stderr, not {_quoted(stream)}')
    end = line.get("end", "\n")
    if end not in _ENDS:
        raise BadLineError(f'"end" must be "\\n", "\\r\\n" or "", not {_quoted(end)}')
    elapsed_ns = line.get("elapsed_ns")
    if elapsed_ns is not None and (type(elapsed_ns) is not int or abs(elapsed_ns) >= 2**63):
        raise BadLineError(f'"elapsed_ns" must be an integer, not {_quoted(elapsed_ns)}')
    return Line(stream, _body(line, text) + end.encode(), parse_time(line.get("time")), elapsed_ns)


def _members_of(text: bytes) -> dict[str, Any]:
    """Return the members of a line; of "message" only that it is there, it may be beyond parsing."""
    try:
        line = json.loads(text)
    except (ValueError, RecursionError) as error:
        try:
            line = {
                json.loads(key): None if key == b'"message"' else json.loads(value)
                for key, value in jsontext.members(text)
            }
        except (ValueError, RecursionError):
            line = {}
        if "message" not in line:
            raise BadLineError(f"not JSON: {error}") from error
    if not isinstance(line, dict):
        raise BadLineError("not an object")
    return line


def _body(line: dict[str, Any], text: bytes) -> bytes:
    if isinstance(line.get("data"), str):
        try:
            body: bytes = line["data"].encode()
        except UnicodeEncodeError as error:
            raise BadLineError('"data" holds a lone surrogate; use "dataBase64"') from error
    elif isinstance(line.get("dataBase64"), str):
        try:
            body = base64.b64decode(line["dataBase64"], validate=True)
        except (binascii.Error, ValueError) as error:
            raise BadLineError(f'"dataBase64" is not base64: {error}') from error
    elif "message" in line:
        # From the text, not from the parsed value: numbers and keys stay as they were written.
        body = next(
            jsontext.compact(value)
            for key, value in reversed(jsontext.members(text))
            if json.loads(key) == "message"
        )
    else:
        raise BadLineError('there is neither "data" nor "dataBase64" nor "message"')
    if b"\n" in body:
        raise BadLineError("a frame is one line, this one holds several")
    return body


def parse_time(text: object) -> int | None:
    """Return an RFC 3339 time in ns since 1970, with all digits of its fraction that fit."""
    if text is None:
        return None
    if not isinstance(text, str):
        raise BadLineError(f'"time" must be a text, not {_quoted(text)}')
    head, dot, tail = text.partition(".")
    digits = ""
    if dot:
        digits = tail[: len(tail) - len(tail.lstrip("0123456789"))]
        head += tail[len(digits) :]
    try:
        moment = datetime.fromisoformat(head.replace("Z", "+00:00").replace("z", "+00:00"))
    except (ValueError, OverflowError) as error:
        raise BadLineError(f'"time" must be as in RFC 3339, not {_quoted(text)}') from error
    if moment.tzinfo is None:
        raise BadLineError(f'"time" must have an offset or Z: {_quoted(text)}')
    seconds = (moment - _EPOCH) // timedelta(seconds=1)
    time_ns = seconds * 1_000_000_000 + int((digits + "0" * 9)[:9])
    if abs(time_ns) >= _LATEST_NS:
        raise BadLineError(f'"time" must be between the years 1678 and 2262, not {_quoted(text)}')
    return time_ns
