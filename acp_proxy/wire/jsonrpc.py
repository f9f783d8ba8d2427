"""Frames to messages: what kind of JSON-RPC message a line holds, and what is odd about it.

Never raises on what a peer sent, and knows no method of ACP. orjson reads first;
where it and exact JSON differ, exact JSON wins.
"""

import re
from enum import StrEnum
from typing import Any, Final, NamedTuple

import orjson

from acp_proxy.wire import jsontext
from acp_proxy.wire.exact_json import (
    MAX_EXACT,
    WHITE,
    ExactFloat,
    NotJSONError,
    Parsed,
    TooDeepError,
    is_exact,
    parse_beginning,
    parse_exactly,
    write,
)
from acp_proxy.wire.framing import LONGEST, Frame

MAX_PARSED: Final = LONGEST
"""Lines longer than this many bytes are stored but not parsed."""

_new: Final = tuple.__new__  # what a NamedTuple's own call comes to, in a third of the time
_MAX_SEARCHED: Final = 1024 * 1024  # a longer line is not searched for JSON hidden in it
_MAX_HIDDEN_TRIES: Final = 16
_LARGEST_SAFE_INTEGER: Final = 2**53 - 1
_BOM: Final = b"\xef\xbb\xbf"
_ABSENT: Final = object()
_PARAMS: Final = (dict, list, type(None))
_CALL_KEYS: Final = frozenset({"jsonrpc", "id", "method", "params"})
_RESPONSE_KEYS: Final = frozenset({"jsonrpc", "id", "result", "error"})
_MEANT_AS_JSON: Final = re.compile(rb"\{|\[\s*[\[{\"\]]")


class Direction(StrEnum):
    """Who wrote the bytes: the client, the agent, or the agent on its standard error."""

    CLIENT = "client"
    AGENT = "agent"
    STDERR = "stderr"


class Kind(StrEnum):
    """What a message is."""

    REQUEST = "request"
    NOTIFICATION = "notification"
    RESULT = "result"
    ERROR = "error"
    INVALID = "invalid"
    TEXT = "text"


class Message(NamedTuple):
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


def classify(raw: bytes, *, as_written: bool = False) -> list[Message]:
    r"""Return the messages in one line: one, or one for each member of a batch, never none.

    Args:
        raw: The line.
        as_written: Let every number remember how it was written (1.50, 1e2), not only those whose
            value would change. Lines with fractions may then take ten times as long. Nothing
            else of the message is another one for it.

    >>> [message] = classify(b'{"jsonrpc":"2.0","id":1.0,"method":"initialize"}\n')
    >>> message.kind, message.method, message.id
    (<Kind.REQUEST: 'request'>, 'initialize', '1.0')
    >>> classify(b"Loading model...\n")[0].kind
    <Kind.TEXT: 'text'>
    """
    try:
        value = orjson.loads(raw)
    except orjson.JSONDecodeError:
        return _classify_difficult(raw)
    if is_exact(raw, value, as_written=as_written):
        return _classify_value(value, ())
    if len(raw) > MAX_EXACT:
        if as_written and is_exact(raw, value):
            return _classify_value(value, ())
        flags = ("unchecked",)
        return _classify_value(value, flags)
    parsed = parse_exactly(raw)
    return _classify_value(parsed.value, parsed.flags)


def classify_frame(frame: Frame, *, as_written: bool = False) -> list[Message]:
    """Return the messages of a frame as ``classify`` does, also of one that was too long to keep."""
    if frame.size != len(frame.raw):
        return [_unparsed(f"longer than {MAX_PARSED} bytes")]
    return classify(frame.raw, as_written=as_written)


def text_message(raw: bytes) -> Message:
    """Return a line of standard error, which is never read as JSON."""
    return Message(Kind.TEXT, flags=() if _is_utf8(raw) else ("not-utf8",))


def _classify_difficult(raw: bytes) -> list[Message]:
    """Classify a line that orjson refuses: blank, text, broken, or JSON that is only unusual."""
    begin = len(raw) - len(raw.lstrip(WHITE))
    if begin == len(raw):
        return [Message(Kind.TEXT, flags=("blank",))]
    if len(raw) > MAX_EXACT:
        return [_unparsed(f"no plain JSON, and longer than {MAX_EXACT} bytes")]
    flags: tuple[str, ...] = ()
    if raw.startswith(_BOM, begin):
        begin += len(_BOM)
        flags = ("bom",)
    try:
        parsed = parse_exactly(raw[begin:].rstrip(WHITE))
    except TooDeepError:
        return _classify_deep(raw[begin:], flags)
    except NotJSONError as error:
        return [_not_json(raw, begin, error, flags)]
    return _classify_value(parsed.value, flags + parsed.flags)


def _not_json(raw: bytes, begin: int, error: NotJSONError, flags: tuple[str, ...]) -> Message:
    """Return text, or an invalid message when the line was meant as JSON or hides some."""
    reason = f"{error.reason} at byte {begin + error.position}"
    if not _is_utf8(raw):
        flags = (*flags, "not-utf8")
    if (hidden := _find_hidden(raw, begin)) is not None:
        at, end = hidden
        where = (
            f"text stands after the JSON that ends at byte {end}"
            if at == begin
            else f"text stands before the JSON at bytes {at} to {end}"
        )
        return Message(Kind.INVALID, flags=(*flags, "hidden-json"), reason=where)
    if _MEANT_AS_JSON.match(raw, begin):
        if "not-utf8" not in flags:
            flags = (*flags, "bad-json")
        return Message(Kind.INVALID, flags=flags, reason=reason)
    return Message(Kind.TEXT, flags=flags or ("not-json",))


def _find_hidden(raw: bytes, begin: int) -> tuple[int, int] | None:
    """Return where a JSON-RPC object stands among other text, as (begin, end)."""
    if len(raw) > _MAX_SEARCHED:
        return None
    at = begin - 1
    budget = 2 * len(raw)  # bytes to read in vain, all tries together
    for _ in range(_MAX_HIDDEN_TRIES):
        at = raw.find(b"{", at + 1)
        if at < 0 or budget < 0 or raw.find(b'"jsonrpc"', at) < 0:
            return None
        try:
            parsed = parse_beginning(raw, at)
        except (NotJSONError, TooDeepError) as error:
            budget -= error.position - at
            continue
        # (An object without it may be a part of a broken message.)
        if "jsonrpc" in parsed.value:
            return at, parsed.end
    return None


def _classify_deep(raw: bytes, flags: tuple[str, ...]) -> list[Message]:
    """Classify what is nested too deep to parse, by what stands outermost."""
    if elements := jsontext.elements(raw):
        return [
            _classify_part(element, (*flags, "batch"), index)
            for index, element in enumerate(elements)
        ]
    return [_classify_part(raw, flags, None)]


def _classify_part(raw: bytes, flags: tuple[str, ...], batch_index: int | None) -> Message:
    """Classify one message of which some part may be too deep."""
    try:
        parsed = parse_exactly(raw)
    except NotJSONError as error:
        return _unparsed(f"nested too deep to parse, and not JSON: {error}", flags, batch_index)
    except TooDeepError:
        pass
    else:
        return _classify_member(parsed.value, flags + parsed.flags, batch_index)
    envelope, found = _outermost(raw, 1)
    if not envelope:
        return _unparsed("nested too deep to parse", flags, batch_index)
    message = _classify_object(envelope, (*flags, *sorted(found), "unparsed"), batch_index)
    return message._replace(value=None, reason=message.reason or "nested too deep to parse")


def _outermost(raw: bytes, levels: int) -> tuple[dict[str, Any], set[str]]:
    """Return the members of an object, what is too deep in them as empty, and flags.

    Empty when it is no object, or a member is no JSON. ``levels`` is how far the
    members of its members are looked at in the same way.
    """
    members: dict[str, Any] = {}
    flags: set[str] = set()
    for key_text, text in jsontext.members(raw):
        try:
            key = parse_exactly(key_text)
            parsed = parse_exactly(text)
        except NotJSONError:
            return {}, set()
        except TooDeepError:
            key = parse_exactly(key_text)
            inner: Any = [] if text.startswith(b"[") else {}
            if inner == {} and levels:
                inner, more = _outermost(text, levels - 1)
                flags |= more
            parsed = Parsed(inner, (), 0)
        flags.update(key.flags, parsed.flags)
        if key.value in members:
            flags.add("duplicate-key")
        members[key.value] = parsed.value
    return members, flags


def _unparsed(reason: str, flags: tuple[str, ...] = (), batch_index: int | None = None) -> Message:
    return Message(Kind.INVALID, flags=(*flags, "unparsed"), reason=reason, batch_index=batch_index)


def _classify_value(value: Any, flags: tuple[str, ...]) -> list[Message]:
    if type(value) is dict:
        return [_classify_object(value, flags, None)]
    if type(value) is list and value:
        flags = (*flags, "batch")
        return [_classify_member(member, flags, index) for index, member in enumerate(value)]
    if type(value) is list:
        return [Message(Kind.INVALID, value, flags=(*flags, "batch"), reason="an empty batch")]
    return [_classify_member(value, flags, None)]


def _classify_member(value: Any, flags: tuple[str, ...], batch_index: int | None) -> Message:
    if type(value) is dict:
        return _classify_object(value, flags, batch_index)
    reason = "JSON, but no object"
    if batch_index is not None:
        reason = "a member of a batch that is no object"
    return Message(Kind.INVALID, value, None, None, batch_index, flags, reason)


def _classify_object(
    value: dict[str, Any], flags: tuple[str, ...], batch_index: int | None
) -> Message:
    """Classify one object by its keys (docs/protocol.md: Messages)."""
    if len(value) == 3 and value.get("jsonrpc") == "2.0" and type(value.get("params")) is dict:  # noqa: PLR2004
        method = value.get("method")
        if type(method) is str:  # by far the most: a notification with nothing odd
            return _new(Message, (Kind.NOTIFICATION, value, method, None, batch_index, flags, None))
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
    return write(id_)


def _judge_id(id_: object, text: str, flags: tuple[str, ...]) -> tuple[str, ...]:
    """Return the flags with what is odd about an id (docs/protocol.md: Ids)."""
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
