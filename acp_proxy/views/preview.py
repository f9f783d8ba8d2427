"""One line that tells a message at a glance: what it asks, says or changes."""

from functools import lru_cache
from typing import TYPE_CHECKING, Any

import orjson

from acp_proxy.views.safe_text import decode, visible
from acp_proxy.wire import jsontext
from acp_proxy.wire.exact_json import write

if TYPE_CHECKING:
    from acp_proxy.log.rows import MessageRow

_LONGEST = 4096  # of the frame's bytes; a preview shows far less
_LENGTH = 160


def preview(row: "MessageRow", length: int = _LENGTH) -> str:
    """Return a message in one harmless line of at most ``length`` characters."""
    return clip(visible(_sentence(row)), length)


def clip(text: str, length: int) -> str:
    """Return text cut to a length, with a mark where it was cut."""
    return text if len(text) <= length else text[: length - 1] + "…"


def member_of(row: "MessageRow") -> bytes:
    """Return the JSON text of a message: its frame, or its part of a batch."""
    if row.batch_index is None:
        return row.raw
    parts = _elements(row.raw)
    return parts[row.batch_index] if row.batch_index < len(parts) else row.raw


@lru_cache(maxsize=8)
def _elements(raw: bytes) -> list[bytes]:
    """Return the members of a batch: the rows of its members share ``raw``, and it is parsed once."""
    return jsontext.elements(raw)


def _sentence(row: "MessageRow") -> str:
    if row.kind in ("text", "invalid"):
        body = decode(member_of(row)[:_LONGEST]).rstrip("\r\n")
        return f"{row.reason}: {body}" if row.reason else body
    try:
        message = orjson.loads(member_of(row))
    except orjson.JSONDecodeError:  # unusual JSON, or cut: show it as it is
        return decode(row.raw[:_LONGEST]).rstrip("\r\n")
    return _of_message(message)


def _of_message(message: Any) -> str:
    if not isinstance(message, dict):
        return _compact(message)
    if (error := message.get("error")) is not None:
        if isinstance(error, dict) and isinstance(error.get("message"), str):
            data = f" {_compact(error['data'])}" if "data" in error else ""
            return f"{error['message']}{data}"
        return _compact(error)
    if "result" in message:
        return _compact(message["result"])
    params = message.get("params")
    if isinstance(params, dict):
        return _of_params(params)
    return "" if params is None else _compact(params)


def _of_params(params: dict[str, Any]) -> str:
    update = params.get("update")
    if isinstance(update, dict):
        text = _text_of(update.get("content"))
        if text is not None and "toolCallId" not in update:
            return text
        rest = {
            key: value
            for key, value in update.items()
            if key not in ("sessionUpdate", "toolCallId", "messageId", "terminalId")
        }
        words = [
            str(rest.pop(key)) for key in ("status", "title") if isinstance(rest.get(key), str)
        ]
        return " ".join([*words, _compact(rest)] if rest else words)
    if (prompt := _text_of(params.get("prompt"))) is not None:
        return prompt
    return _compact({key: value for key, value in params.items() if key != "sessionId"} or {})


def _text_of(content: Any) -> str | None:
    """Return the text of a content block, or of a list of them; other kinds by their names."""
    blocks = content if isinstance(content, list) else [content]
    words = []
    for block in blocks:
        if not isinstance(block, dict) or not isinstance(block.get("type"), str):
            return None
        text = block.get("text")
        words.append(text if isinstance(text, str) else f"[{block['type']}]")
    return " ".join(words) if words else None


def _compact(value: Any) -> str:
    try:
        return orjson.dumps(value).decode()
    except (orjson.JSONEncodeError, RecursionError):  # nested too deep for it, or a huge number
        return write(value)
