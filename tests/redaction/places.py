"""The places where secrets stand: each makes the frames of a small connection around a text."""

import base64
import json
import textwrap
from collections.abc import Callable, Iterator
from typing import Any

Frames = list[tuple[str, bytes]]
Place = Callable[[str], Frames]


def line(message: Any) -> bytes:
    """Return a message as a frame."""
    return json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n"


def _update(update: dict[str, Any]) -> tuple[str, bytes]:
    params = {"sessionId": "s-1", "update": update}
    return "agent", line({"method": "session/update", "params": params})


def _request(method: str, params: Any) -> tuple[str, bytes]:
    return "client", line({"id": 1, "method": method, "params": params})


def _result(result: Any) -> tuple[str, bytes]:
    return "client", line({"id": 1, "result": result})


def _said(text: str, **more: Any) -> tuple[str, bytes]:
    content = {"type": "text", "text": text}
    return _update({"sessionUpdate": "agent_message_chunk", "content": content, **more})


def _thirds(text: str) -> list[str]:
    third = len(text) // 3 or 1
    return [text[:third], text[third : 2 * third], text[2 * third :]]


def _base64(text: str) -> str:
    return base64.b64encode(text.encode()).decode()


def _terminal(data: str) -> tuple[str, bytes]:
    return _update(
        {"sessionUpdate": "terminal_output_chunk", "terminalId": "t", "data": _base64(data)}
    )


def _meta_output(name: str, data: str) -> tuple[str, bytes]:
    meta = {name: {"terminal_id": "k", "data": data}}
    return _update({"sessionUpdate": "tool_call_update", "toolCallId": "k", "_meta": meta})


def _call(**fields: Any) -> tuple[str, bytes]:
    return _update({"sessionUpdate": "tool_call_update", "toolCallId": "k", **fields})


def _between(text: str) -> str:
    return f"see\n{text}\nthere"


def _patch(text: str) -> str:
    return "--- a/x\n+++ b/x\n@@ -0,0 +1 @@\n" + "".join(f"+{row}\n" for row in text.split("\n"))


PLACES: dict[str, Place] = {
    "prompt": lambda text: [
        _request("session/prompt", {"prompt": [{"type": "text", "text": f"use {text} please"}]})
    ],
    "message": lambda text: [_said(f"I found `{text}` in it")],
    "chunked message": lambda text: [_said(part) for part in _thirds(_between(text))],
    "message, a character at a time": lambda text: [_said(part) for part in _between(text)],
    "message with an id": lambda text: [
        frame
        for part in _thirds(_between(text))
        for frame in (_said(part, messageId="m"), _said("other words", messageId="n"))
    ],
    "tool call chunks": lambda text: [
        _update({
            "sessionUpdate": "tool_call_content_chunk", "toolCallId": "k",
            "content": {"type": "content", "content": {"type": "text", "text": part}},
        })
        for part in _thirds(_between(text))
    ],
    "title": lambda text: [_call(title=f"Run {text}")],
    "raw input": lambda text: [_call(rawInput={"command": f"sh -c '{text}'", "n": 1})],
    "raw output": lambda text: [_call(rawOutput={"stdout": _between(text), "code": 0})],
    "diff": lambda text: [
        _call(content=[{"type": "diff", "path": "/x", "oldText": "", "newText": _between(text)}])
    ],
    "patch": lambda text: [
        _call(content=[{"type": "diff", "patch": {"format": "git", "text": _patch(text)}}])
    ],
    "file read": lambda text: [_result({"content": _between(text)})],
    "blob": lambda text: [
        _result({"resource": {"uri": "file:///x", "blob": _base64(_between(text))}})
    ],
    "terminal result": lambda text: [_result({"output": _between(text), "truncated": False})],
    "terminal bytes": lambda text: [_terminal(_between(text))],
    "terminal bytes in chunks": lambda text: [_terminal(part) for part in _thirds(_between(text))],
    "terminal replaced": lambda text: [
        _update({
            "sessionUpdate": "terminal_update", "terminalId": "t",
            "output": {"data": _base64(_between(text))},
        })
    ],
    "meta terminal": lambda text: [_meta_output("terminal_output", _between(text))],
    "meta terminal in deltas": lambda text: [
        _meta_output("terminal_output_delta", part) for part in _thirds(_between(text))
    ],
    "coloured": lambda text: [
        _terminal("$ cat x\r\n\x1b[32m" + text.replace("\n", "\r\n") + "\x1b[0m\r\n$ ")
    ],
    "meta": lambda text: [
        _request("session/new", {"cwd": "/x", "_meta": {"vendor": {"note": [text]}}})
    ],
    "JSON in a string": lambda text: [
        _call(rawOutput=json.dumps({"result": {"lines": [text, 1, None]}}))
    ],
    "JSON in JSON in a string": lambda text: [
        _call(rawOutput=json.dumps({"body": json.dumps({"note": text})}))
    ],
    "error": lambda text: [
        ("agent", line({"id": 1, "error": {"code": -32000, "message": text, "data": [text]}}))
    ],
    "key": lambda text: [_result({"files": {f"x {text}": 1}})],
    "batch": lambda text: [
        ("agent", b"[" + _said(text)[1].strip() + b"," + _call(title=text)[1].strip() + b"]\r\n")
    ],
    "stderr": lambda text: [
        ("stderr", row.encode() + b"\n") for row in f"12:00 INFO {text}".split("\n")
    ],
    "stderr, JSON": lambda text: [("stderr", b"sent " + line({"a": {"b": text}}))],
    "no JSON": lambda text: [("agent", row.encode() + b"\n") for row in text.split("\n")],
    "behind an escape": lambda text: [("agent", b"\x1b]0;agent\x07" + _said(text)[1])],
    "escaped": lambda text: [
        ("agent", b'{"a":"' + "".join(f"\\u{ord(c):04x}" for c in text).encode() + b'","n":1.0}\n')
    ],
    "slashes escaped": lambda text: [
        ("agent", line({"a": text}).replace(b"/", b"\\/").replace(b"\\\\/", b"\\/"))
    ],
}  # fmt: skip


def blanket(value: str) -> Iterator[tuple[str, Frames]]:
    """Yield the places where everything is blanked, whatever it is."""
    pair = [{"name": "FOO", "value": value}]
    for label, params in {
        "env of an MCP server": {"mcpServers": [{"name": "m", "command": "c", "env": pair}]},
        "headers of one": {"mcpServers": [{"type": "http", "url": "u", "headers": pair}]},
        "env object": {"options": {"env": {"FOO": value}}},
        "env settings": {"env": [f"FOO={value}"]},
        "proxyConfig": {"_meta": {"proxyConfig": {"proxies": [{"headers": {"k": value}}]}}},
        "env_vars": {"env_vars": {"deep": {"er": [value]}}},
    }.items():
        yield label, [_request("session/new", params)]
    yield "terminal/create", [("agent", line({"id": 1, "method": "x", "params": {"env": pair}}))]
    config = json.dumps({"mcpServers": {"m": {"env": {"FOO": value}}}}, indent=2)
    yield "configuration in a text", [_said(f"It says:\n```json\n{config}\n```")]
    yield "configuration in a result", [_result({"content": config})]


def wrapped(text: str, width: int, indent: str = "") -> str:
    """Return a text as a terminal of that width shows it."""
    rows = [
        f"the output is here: {text} and so on"[at : at + width] for at in range(0, 10**4, width)
    ]
    return f"\n{indent}".join(row for row in rows if row)


WRAPPED: dict[str, Place] = {
    "terminal of 80 columns": lambda text: [_terminal(wrapped(text, 80).replace("\n", "\r\n"))],
    "terminal of 30 columns": lambda text: [_terminal(wrapped(text, 30).replace("\n", "\r\n"))],
    "stderr of 40 columns": lambda text: [
        ("stderr", row.encode() + b"\n") for row in wrapped(text, 40).split("\n")
    ],
    "indented": lambda text: [_said(wrapped(text, 50, "    "))],
    "in a box": lambda text: [_said(textwrap.indent(wrapped(text, 36), "\u2502 "))],
    "painted": lambda text: [
        _terminal(f"x: {text[:3]}\x1b[01;31m\x1b[K{text[3:7]}\x1b[m\x1b[K{text[7:]}\r\n")
    ],
}  # fmt: skip
