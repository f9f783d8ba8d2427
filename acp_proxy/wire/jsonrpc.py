"""Frames to messages: what kind of JSON-RPC message a line holds, and what is odd about it.

Never raises on what a peer sent, and knows no method of ACP. orjson reads first;
where it and exact JSON differ, exact JSON wins (design section 6).
"""

import json
import re
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any, Final

import orjson

from acp_proxy.wire import jsontext
from acp_proxy.wire.exact_json import (
    WHITE,
    ExactFloat,
    has_lone_surrogate,
    is_exact,
    parse_exactly,
    reject_constant,
)
from acp_proxy.wire.framing import Frame

MAX_PARSED: Final = 128 * 1024 * 1024
"""Lines longer than this many bytes are stored but not parsed."""

_MAX_SEARCHED: Final = 1024 * 1024  # a longer line is not searched for JSON hidden in it
_MAX_HIDDEN_TRIES: Final = 16
_LARGEST_SAFE_INTEGER: Final = 2**53 - 1
_BOM: Final = b"\xef\xbb\xbf"
_ABSENT: Final = object()
_PARAMS: Final = (dict, list, type(None))
_CALL_KEYS: Final = frozenset({"jsonrpc", "id", "method", "params"})
_RESPONSE_KEYS: Final = frozenset({"jsonrpc", "id", "result", "error"})
_ENVELOPE: Final = _CALL_KEYS | _RESPONSE_KEYS


class Direction(StrEnum):
    """Who wrote the bytes: the client, the agent, or the agent on its standard error."""

    CLIENT = "client"
    AGENT = "agent"
    STDERR = "stderr"


class Kind(StrEnum):
    """What a message is (design section 5)."""

    REQUEST = "request"
    NOTIFICATION = "notification"
    RESULT = "result"
    ERROR = "error"
    INVALID = "invalid"
    TEXT = "text"


@dataclass(slots=True, frozen=True)
class Message:
    """One JSON-RPC message, or one line that is none.

    Attributes:
        kind: What it is.
        value: The parsed JSON, None when there is none.
        method: Of a request or notification.
        id: The id as JSON text (``7``, ``"7"``, ``7.0``, ``null``), None when it has none. Strings
            are written in one canonical way, numbers as they were sent.
        batch_index: Its place in the array it came in, None when it came alone.
        flags: What is odd about it, in words (docs/log.md lists them).
        reason: Why it is ``invalid``, or not parsed.

    """

    kind: Kind
    value: Any = None
    method: str | None = None
    id: str | None = None
    batch_index: int | None = None
    flags: tuple[str, ...] = ()
    reason: str | None = None


def classify(raw: bytes) -> list[Message]:
    r"""Return the messages in one line: one, or one for each member of a batch, never none.

    >>> [message] = classify(b'{"jsonrpc":"2.0","id":1.0,"method":"initialize"}\n')
    >>> message.kind, message.method, message.id
    (<Kind.REQUEST: 'request'>, 'initialize', '1.0')
    >>> classify(b"Loading model...\n")[0].kind
    <Kind.TEXT: 'text'>
    """
    flags: tuple[str, ...] = ()
    try:
        value = orjson.loads(raw)
    except orjson.JSONDecodeError:
        return _classify_difficult(raw)
    if not is_exact(raw, value):
        try:
            value, flags = parse_exactly(raw.decode())
        except RecursionError:  # orjson goes deeper; keep its value, the text is in the log
            flags = ("unchecked",)
    return _classify_value(value, flags)


def classify_frame(frame: Frame) -> list[Message]:
    """Return the messages of a frame, also of one that was too long to keep."""
    if frame.size != len(frame.raw):
        return [_unparsed(f"longer than {MAX_PARSED} bytes")]
    return classify(frame.raw)


def text_message(raw: bytes) -> Message:
    """Return a line of standard error, which is never read as JSON."""
    return Message(Kind.TEXT, flags=() if _is_utf8(raw) else ("not-utf8",))


def _classify_difficult(raw: bytes) -> list[Message]:
    """Classify a line that orjson refuses: blank, text, broken, or JSON that is only unusual."""
    stripped = raw.strip(WHITE)
    if not stripped:
        return [Message(Kind.TEXT, flags=("blank",))]
    flags: tuple[str, ...] = ()
    if stripped.startswith(_BOM):
        stripped = stripped[len(_BOM) :].lstrip(WHITE)
        flags = ("bom",)
    try:
        text = stripped.decode()
    except UnicodeDecodeError as error:
        position = raw.find(stripped) + error.start
        reason = f"byte {position} (0x{stripped[error.start]:02x}) is not UTF-8"
        return [
            _not_json(stripped, stripped.decode(errors="replace"), reason, (*flags, "not-utf8"))
        ]
    try:
        value, exact_flags = parse_exactly(text)
    except RecursionError:
        return [replace(_too_deep(stripped), flags=(*flags, "unparsed"))]
    except ValueError as error:
        reason = error.msg if isinstance(error, json.JSONDecodeError) else str(error)
        at = (
            f" at byte {len(text[: error.pos].encode())}"
            if isinstance(error, json.JSONDecodeError)
            else ""
        )
        return [_not_json(stripped, text, reason + at, flags)]
    if has_lone_surrogate(value):
        exact_flags = (*exact_flags, "lone-surrogate")
    return _classify_value(value, flags + exact_flags)


def _not_json(stripped: bytes, text: str, reason: str, flags: tuple[str, ...]) -> Message:
    """Return text, or an invalid message when the line was meant as JSON or hides some."""
    hidden = _find_hidden(text)
    if hidden is not None:
        begin, end = (len(text[:at].encode()) for at in hidden)
        before = f"text stands before the JSON at bytes {begin} to {end}"
        after = f"text stands after the JSON that ends at byte {end}"
        return Message(
            Kind.INVALID, flags=(*flags, "hidden-json"), reason=before if begin else after
        )
    if stripped.startswith(b"{") or re.match(rb'\[\s*[\[{"\]]', stripped):
        return Message(Kind.INVALID, flags=(*flags, "bad-json"), reason=reason)
    return Message(Kind.TEXT, flags=flags or ("not-json",))


def _find_hidden(text: str) -> tuple[int, int] | None:
    """Return where a JSON-RPC object stands inside other text, as (begin, end) in characters."""
    if len(text) > _MAX_SEARCHED:
        return None
    decoder = json.JSONDecoder(parse_constant=reject_constant)
    at = -1
    for _ in range(_MAX_HIDDEN_TRIES):
        at = text.find("{", at + 1)
        if at < 0:
            return None
        try:
            value, end = decoder.raw_decode(text, at)
        except (ValueError, RecursionError):
            continue
        if isinstance(value, dict) and not _ENVELOPE.isdisjoint(value):
            return at, end
    return None


def _unparsed(reason: str) -> Message:
    return Message(Kind.INVALID, flags=("unparsed",), reason=reason)


def _too_deep(raw: bytes) -> Message:
    """Classify by the outermost members what is nested too deep to parse."""
    envelope: dict[str, Any] = {}
    for key, value in jsontext.members(raw):
        try:
            # What is nested stands for itself: its place in the envelope counts, not its value.
            short = (
                value
                if value[:1] not in (b"{", b"[")
                else value[:1] + (b"}" if value[:1] == b"{" else b"]")
            )
            envelope[json.loads(key)] = parse_exactly(short.decode())[0]
        except ValueError as error:
            return _unparsed(f"nested too deep to parse, and not JSON: {error}")
    if not envelope:
        return _unparsed("nested too deep to parse")
    message = _classify_object(envelope, (), None)
    return replace(message, value=None, reason=message.reason or "nested too deep to parse")


def _classify_value(value: Any, flags: tuple[str, ...]) -> list[Message]:
    if type(value) is dict:
        return [_classify_object(value, flags, None)]
    if type(value) is list:
        if not value:
            return [Message(Kind.INVALID, value, flags=(*flags, "batch"), reason="an empty batch")]
        flags = (*flags, "batch")
        return [
            _classify_object(member, flags, index)
            if type(member) is dict
            else Message(
                Kind.INVALID,
                member,
                None,
                None,
                index,
                flags,
                "a member of a batch that is no object",
            )
            for index, member in enumerate(value)
        ]
    return [Message(Kind.INVALID, value, flags=flags, reason="JSON, but no object")]


def _classify_object(
    value: dict[str, Any], flags: tuple[str, ...], batch_index: int | None
) -> Message:
    """Classify one object by its keys (acp-facts A.1)."""
    id_ = value.get("id", _ABSENT)
    if value.get("jsonrpc") != "2.0":
        flags = (*flags, "no-jsonrpc")
    id_as_text = None
    if id_ is not _ABSENT:
        id_as_text = id_text(id_)
        flags = _judge_id(id_, id_as_text, flags)
    method = value.get("method", _ABSENT)
    if method is not _ABSENT:
        judge, keys = _judge_call, _CALL_KEYS
    else:
        judge, keys, method = _judge_response, _RESPONSE_KEYS, None
    kind, reason, flags = judge(value, flags)
    if not keys.issuperset(value):
        flags = (*flags, "extra-key")
    return Message(
        kind,
        value,
        method if isinstance(method, str) else None,
        id_as_text,
        batch_index,
        flags,
        reason,
    )


_Judgement = tuple[Kind, str | None, tuple[str, ...]]


def _judge_call(value: dict[str, Any], flags: tuple[str, ...]) -> _Judgement:
    """Judge what has a method: kind, reason, flags."""
    if not isinstance(value.get("params"), _PARAMS):
        flags = (*flags, "bad-params")
    if not isinstance(value["method"], str):
        return Kind.INVALID, "the method is not a string", flags
    return Kind.REQUEST if "id" in value else Kind.NOTIFICATION, None, flags


def _judge_response(value: dict[str, Any], flags: tuple[str, ...]) -> _Judgement:
    """Judge what has no method: kind, reason, flags."""
    has_result, has_error = "result" in value, "error" in value
    error = value.get("error")
    if not has_result and not has_error:
        return Kind.INVALID, "neither a method nor a result nor an error", flags
    if has_result and has_error:
        flags = (*flags, "result-and-error")
    kind = Kind.RESULT if has_result and error is None else Kind.ERROR
    if kind is Kind.ERROR and not _is_error(error):
        flags = (*flags, "bad-error")
    if "id" not in value:
        return Kind.INVALID, "a response without an id", flags
    return kind, None, flags


def _is_error(error: object) -> bool:
    return (
        isinstance(error, dict)
        and type(error.get("code")) is int
        and isinstance(error.get("message"), str)
    )


def id_text(id_: object) -> str:
    """Return an id as JSON text: strings in one canonical way, numbers as they were sent."""
    if type(id_) is int:
        return str(id_)
    if isinstance(id_, ExactFloat):
        return id_.text
    try:
        return orjson.dumps(id_).decode()
    except orjson.JSONEncodeError:  # a lone surrogate, an integer that is not at the outside
        return json.dumps(id_)


def _judge_id(id_: object, text: str, flags: tuple[str, ...]) -> tuple[str, ...]:
    """Return the flags with what is odd about an id (acp-facts A.4)."""
    if type(id_) is int:
        return (*flags, "unsafe-id") if abs(id_) > _LARGEST_SAFE_INTEGER else flags
    if isinstance(id_, str):
        return flags
    if id_ is None:
        return (*flags, "null-id")
    if isinstance(id_, ExactFloat):
        return (*flags, "unsafe-id" if text.lstrip("-").isdigit() else "fractional-id")
    return (*flags, "bad-id")


def _is_utf8(raw: bytes) -> bool:
    try:
        raw.decode()
    except UnicodeDecodeError:
        return False
    return True
