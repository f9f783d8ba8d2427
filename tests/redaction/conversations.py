"""Whole conversations around a text that holds a secret: every place where such a text can stand.

The places of ``places`` come first; those here add the dresses in which programs print text, and
the messages of the protocol that are not there.
"""

import base64
import json
import re
from collections.abc import Callable
from typing import Any
from urllib.parse import quote

from tests.redaction.made_up import Random
from tests.redaction.places import PLACES, WRAPPED, Frames, Place, line

OPENING = 5  # messages before those of the place itself
_RESET = "\x1b[0m"


def _update(**update: Any) -> tuple[str, bytes]:
    params = {"sessionId": "s-1", "update": update}
    return "agent", line({"method": "session/update", "params": params})


def _agent(number: int, method: str, **params: Any) -> tuple[str, bytes]:
    return "agent", line({"id": number, "method": method, "params": {"sessionId": "s-1", **params}})


def _client(number: int, method: str, **params: Any) -> tuple[str, bytes]:
    return "client", line({"id": number, "method": method, "params": params})


def _answer(stream: str, number: int, result: Any) -> tuple[str, bytes]:
    return stream, line({"id": number, "result": result})


def _text(text: str) -> dict[str, Any]:
    return {"type": "text", "text": text}


def _chunk(text: str, kind: str = "agent_message_chunk", **more: Any) -> tuple[str, bytes]:
    return _update(sessionUpdate=kind, content=_text(text), **more)


def _call(**fields: Any) -> tuple[str, bytes]:
    return _update(sessionUpdate="tool_call_update", toolCallId="k", **fields)


def _content(text: str) -> tuple[str, bytes]:
    return _call(content=[{"type": "content", "content": _text(text)}])


def _pieces(text: str) -> list[str]:
    """Cut a text into pieces of one to five characters."""
    random, found, at = Random(text), [], 0
    while at < len(text):
        size = random.integer(1, 5)
        found.append(text[at : at + size])
        at += size
    return found


def _opening(version: int) -> Frames:
    """Return how a conversation begins, with a session ``s-1`` and a tool call ``k``."""
    asked: dict[str, Any] = {"protocolVersion": version}
    told: dict[str, Any] = {"protocolVersion": version}
    if version > 1:
        asked["info"] = told["info"] = {"name": "x", "version": "1"}
        told["capabilities"] = {}
    begun = {"sessionUpdate": "tool_call", "title": "Look", "kind": "execute"}
    if version > 1:
        begun["sessionUpdate"] = "tool_call_update"
    return [
        _client(900, "initialize", **asked),
        _answer("agent", 900, told),
        _client(901, "session/new", cwd="/srv/app", mcpServers=[]),
        _answer("agent", 901, {"sessionId": "s-1"}),
        _update(toolCallId="k", **begun),
    ]


def _ordered(frames: Frames, version: int = 1) -> Frames:
    return [*_opening(version), *frames]


def _rows(text: str, dress: Callable[[int, str], str]) -> str:
    """Dress every line of a text, which stands in line 12 and following of some file."""
    lines = ["# a file", *text.split("\n"), "# its end"]
    return "\n".join(dress(number, row) for number, row in enumerate(lines, 12))


def _bat(text: str) -> str:
    rule = "\u2500" * 7
    grey = "\x1b[38;5;238m"

    def row(number: int, text: str) -> str:
        words = re.sub(r"([^\s=:]+)", "\x1b[38;5;231m\\1\x1b[0m", text)
        return f"{grey}{number:4}{_RESET}   {grey}\u2502{_RESET} {words}"

    top = f"{grey}{rule}\u252c{rule}{_RESET}\n       {grey}\u2502 {_RESET}File: \x1b[1mx.conf{_RESET}\n"
    return f"{top}{_rows(text, row)}\n{grey}{rule}\u2534{rule}{_RESET}"


def _bat_plain(text: str) -> str:
    return _rows(text, lambda number, row: f"{number:4}   \u2502 {row}")


def _jq(text: str) -> str:
    """Colour a text as ``jq -C`` colours JSON: each string, name and mark by itself."""
    token = re.compile(r'"(?:[^"\\]|\\.)*"|[{}\[\],:]|[^\s{}\[\],:"]+|"')

    def coloured(match: re.Match[str]) -> str:
        colour = "1;39" if match[0] in "{}[],:" else "0;32"
        return f"\x1b[{colour}m{match[0]}{_RESET}"

    return token.sub(coloured, text)


def _table(text: str) -> str:
    rows = "\n".join(f"| {number} | {row} |" for number, row in enumerate(text.split("\n"), 1))
    return f"| n | setting |\n| --- | --- |\n{rows}"


def _patch(text: str) -> str:
    rows = text.split("\n")
    head = f"diff --git /x /x\n--- /x\n+++ /x\n@@ -1,2 +1,{len(rows) + 1} @@\n # a file\n-old\n"
    return head + "".join(f"+{row}\n" for row in rows)


def _base64(text: str) -> str:
    return base64.b64encode(text.encode()).decode()


def _terminal_v1(text: str) -> Frames:
    return [
        _agent(1, "terminal/create", command="sh", args=["x"]),
        _answer("client", 1, {"terminalId": "t"}),
        _call(content=[{"type": "terminal", "terminalId": "t"}]),
        _agent(2, "terminal/output", terminalId="t"),
        _answer("client", 2, {"output": f"$ sh x\n{text}\n", "truncated": False}),
    ]


def _terminal_v2(pieces: list[str]) -> Frames:
    return [
        _update(sessionUpdate="terminal_update", terminalId="t", command="sh x"),
        _call(content=[{"type": "terminal", "terminalId": "t"}]),
        *(
            _update(sessionUpdate="terminal_output_chunk", terminalId="t", data=_base64(piece))
            for piece in pieces
        ),
    ]


def _permission(text: str) -> Frames:
    options = [{"optionId": "y", "name": "Allow", "kind": "allow_once"}]
    call = {"toolCallId": "k", "title": f"Run {text}", "rawInput": {"command": text}}
    return [
        _agent(1, "session/request_permission", toolCall=call, options=options),
        _answer("client", 1, {"outcome": {"outcome": "selected", "optionId": "y"}}),
    ]


def _elicitation(text: str) -> Frames:
    schema = {"type": "object", "properties": {"answer": {"type": "string"}}}
    return [
        _agent(1, "elicitation/create", message="Which?", mode="form", requestedSchema=schema),
        _answer("client", 1, {"action": "accept", "content": {"answer": text}}),
    ]


def _file(text: str, number: int = 1, path: str = "/srv/app/notes.txt") -> Frames:
    return [
        _agent(number, "fs/read_text_file", path=path),
        _answer("client", number, {"content": text}),
    ]


def _env(text: str) -> Frames:
    server = {"name": "m", "command": "m", "args": [], "env": [{"name": "FOO", "value": text}]}
    return [_client(1, "session/new", cwd="/", mcpServers=[server])]


def _headers(text: str) -> Frames:
    headers = [{"name": "X-Corp", "value": text}]
    server = {"type": "http", "name": "m", "url": "https://m.example", "headers": headers}
    return [_client(1, "session/new", cwd="/", mcpServers=[server])]


_V1: dict[str, Place] = {
    "pieces of a message": lambda text: [_chunk(piece) for piece in _pieces(f"see\n{text}\nthere")],
    "thought": lambda text: [_chunk(f"It says\n{text}\nso far", "agent_thought_chunk")],
    "pieces of a thought": lambda text: [
        _chunk(piece, "agent_thought_chunk") for piece in _pieces(f"see\n{text}\nthere")
    ],
    "user message": lambda text: [_chunk(f"look:\n{text}\n", "user_message_chunk")],
    "prompt of blocks": lambda text: [
        _client(1, "session/prompt", sessionId="s-1", prompt=[
            _text("Please see"),
            {"type": "resource", "resource": {"uri": "file:///x", "text": f"{text}\n"}},
        ]),
        _answer("agent", 1, {"stopReason": "end_turn"}),
    ],
    "content": lambda text: [_content(f"```\n{text}\n```")],
    "raw input, arguments": lambda text: [_call(rawInput={"command": ["bash", "-lc", text]})],
    "raw input, text": lambda text: [_call(rawInput=text)],
    "raw output, text": lambda text: [_call(rawOutput=f"{text}\n")],
    "diff, old text": lambda text: [
        _call(content=[{"type": "diff", "path": "/x", "oldText": f"{text}\n", "newText": "\n"}])
    ],
    "location": lambda text: [_call(locations=[{"path": f"/srv/{text}", "line": 3}])],
    "path": lambda text: _file("nothing", path=f"/srv/{text}"),
    "written file": lambda text: [
        _agent(1, "fs/write_text_file", path="/x", content=f"{text}\n"), _answer("client", 1, None),
    ],
    "file": lambda text: _file(f"{text}\n"),
    "terminal of the client": _terminal_v1,
    "arguments of a terminal": lambda text: [
        _agent(1, "terminal/create", command="sh", args=["-c", text]),
        _answer("client", 1, {"terminalId": "t"}),
    ],
    "environment of a server": _env,
    "headers of a server": _headers,
    "arguments of a server": lambda text: [
        _client(1, "session/new", cwd="/", mcpServers=[
            {"name": "m", "command": "sh", "args": ["-c", text], "env": []},
        ])
    ],
    "permission": _permission,
    "elicitation": _elicitation,
    "elicitation, question": lambda text: [
        _agent(1, "elicitation/create", message=f"Is this right?\n{text}", mode="url",
               elicitationId="e", url="https://x.example/"),
        _answer("client", 1, {"action": "decline"}),
    ],
    "plan": lambda text: [
        _update(sessionUpdate="plan", entries=[
            {"content": f"Use {text}", "priority": "high", "status": "pending"}
        ])
    ],
    "command": lambda text: [
        _update(sessionUpdate="available_commands_update", availableCommands=[
            {"name": "x", "description": f"As {text}"}
        ])
    ],
    "session title": lambda text: [
        _update(sessionUpdate="session_info_update", title=f"About {text}")
    ],
    "error of a prompt": lambda text: [
        _client(1, "session/prompt", sessionId="s-1", prompt=[_text("go")]),
        ("agent", line({"id": 1, "error": {"code": -32603, "message": "Internal error",
                                           "data": {"details": f"failed: {text}"}}})),
    ],
    "unknown method": lambda text: [_agent(1, "_vendor/notify", body={"lines": [text]})],
    "percent": lambda text: [_chunk(f"https://x.example/?q={quote(text, safe='')}")],
    "key of raw input": lambda text: [_call(rawInput={"files": {text: 1}})],
    "JSON, laid out": lambda text: [
        _content(json.dumps({"result": {"stdout": text, "code": 0}}, indent=2, ensure_ascii=False))
    ],
    "jq -C": lambda text: [_content(_jq(text))],
    "jq -C in a terminal": lambda text: _terminal_v1(_jq(text)),
    "bat": lambda text: _terminal_v1(_bat(text)),
    "bat, plain": lambda text: [_content(_bat_plain(text))],
    "cat -n": lambda text: [_content(_rows(text, lambda number, row: f"{number:6}\t{row}"))],
    "numbered by an agent": lambda text: [
        _content(_rows(text, lambda number, row: f"{number:6}\u2192{row}"))
    ],
    "grep -n": lambda text: [_content(_rows(text, lambda number, row: f"{number}:{row}"))],
    "grep -rn": lambda text: [
        _content(_rows(text, lambda number, row: f"etc/x.conf:{number}:{row}"))
    ],
    "grep -A": lambda text: [
        _content(_rows(text, lambda number, row: f"etc/x.conf-{number}-{row}"))
    ],
    "grep in colour": lambda text: _terminal_v1(
        _rows(text, lambda number, row: (
            f"\x1b[35m\x1b[Kx.conf\x1b[m\x1b[K\x1b[36m\x1b[K:\x1b[m\x1b[K\x1b[32m\x1b[K{number}"
            f"\x1b[m\x1b[K\x1b[36m\x1b[K:\x1b[m\x1b[K{row}"
        ))
    ),
    "unified diff": lambda text: [_content(_patch(text))],
    "unified diff in colour": lambda text: _terminal_v1(
        "\n".join(f"\x1b[32m{row}\x1b[m" for row in _patch(text).split("\n"))
    ),
    "Markdown table": lambda text: [_chunk(_table(text))],
    "Markdown fence": lambda text: [_chunk(f"It is:\n\n```sh\n{text}\n```\n")],
    "Markdown quote": lambda text: [
        _chunk("\n".join(f"> {row}" for row in text.split("\n")))
    ],
    "CRLF": lambda text: _terminal_v1(text.replace("\n", "\r\n")),
}  # fmt: skip

_V2: dict[str, Place] = {
    "v2 pieces of a message": lambda text: [
        _chunk(piece, messageId="m") for piece in _pieces(f"see\n{text}\nthere")
    ],
    "v2 message": lambda text: [
        _update(sessionUpdate="agent_message", messageId="m", content=[_text(f"see\n{text}\n")])
    ],
    "v2 prompt": lambda text: [
        _client(1, "session/prompt", sessionId="s-1", prompt=[_text(f"use\n{text}\n")]),
        _answer("agent", 1, {"messageId": "u"}),
        _update(sessionUpdate="user_message", messageId="u", content=[_text(f"use\n{text}\n")]),
    ],
    "v2 terminal": lambda text: _terminal_v2([f"$ sh x\r\n{text}\r\n"]),
    "v2 terminal in pieces": lambda text: _terminal_v2(_pieces(f"$ sh x\r\n{text}\r\n")),
    "v2 command of a terminal": lambda text: [
        _update(sessionUpdate="terminal_update", terminalId="t", command=text, cwd="/srv")
    ],
    "v2 content chunks": lambda text: [
        _update(
            sessionUpdate="tool_call_content_chunk", toolCallId="k",
            content={"type": "content", "content": _text(piece)},
        )
        for piece in _pieces(f"see\n{text}\nthere")
    ],
    "v2 patch": lambda text: [
        _call(content=[{
            "type": "diff", "changes": [{"operation": "modify", "path": "/x"}],
            "patch": {"format": "git_patch", "text": _patch(text)},
        }])
    ],
    "v2 plan": lambda text: [
        _update(sessionUpdate="plan_update", plan={
            "type": "markdown", "planId": "p", "content": f"# Plan\n\n{text}\n"
        })
    ],
    "v2 notice": lambda text: [
        _update(sessionUpdate="notice", severity="warning", title="Odd", description=f"x\n{text}")
    ],
    "v2 summary": lambda text: [
        _update(sessionUpdate="compaction_update", compactionId="c", status="completed",
                summary=[_text(f"They said\n{text}\n")])
    ],
    "v2 subject of a permission": lambda text: [
        _agent(1, "session/request_permission", title="Run?",
               subject={"type": "command", "command": text, "cwd": "/srv"},
               options=[{"optionId": "y", "name": "Allow", "kind": "allow_once"}]),
        _answer("client", 1, {"outcome": {"outcome": "cancelled"}}),
    ],
}  # fmt: skip

_WRAPPED = ("terminal of 80 columns", "painted")


def _opened(place: Place, version: int) -> Place:
    return lambda text: _ordered(place(text), version)


CONVERSATIONS: dict[str, Place] = {
    **{name: _opened(place, 1) for name, place in PLACES.items()},
    **{name: _opened(WRAPPED[name], 1) for name in _WRAPPED},
    **{name: _opened(place, 1) for name, place in _V1.items()},
    **{name: _opened(place, 2) for name, place in _V2.items()},
}

# What gives a secret away: each makes frames that hold the value under a name or in a place for
# secrets; the value then stands naked somewhere else in the same conversation.
SOURCES: dict[str, Callable[[str], Frames]] = {
    "env": lambda value: [
        _client(950, "session/new", cwd="/", mcpServers=[
            {"name": "m", "command": "m", "args": [], "env": [{"name": "ORG_TOKEN", "value": value}]}
        ])
    ],
    "headers": lambda value: [
        _client(950, "session/new", cwd="/", mcpServers=[
            {"type": "http", "name": "m", "url": "https://m.example",
             "headers": [{"name": "X-Org-Key", "value": value}]}
        ])
    ],
    "bearer header": lambda value: [
        _client(950, "session/new", cwd="/", mcpServers=[
            {"type": "http", "name": "m", "url": "https://m.example",
             "headers": [{"name": "Authorization", "value": f"Bearer {value}"}]}
        ])
    ],
    "provider": lambda value: [
        _client(950, "providers/set", providerId="p", apiType="openai",
                baseUrl="https://p.example", headers={"X-Org-Key": value})
    ],
    "login": lambda value: [
        _client(950, "authenticate", methodId="api-key", _meta={"api-key": {"apiKey": value}})
    ],
    "settings in raw input": lambda value: [
        _call(rawInput={"settings": {"database": {"user": "app", "password": value}}})
    ],
    ".env": lambda value: _file(f"PORT=80\nORG_SECRET={value}\nX=1\n", 950, "/srv/app/.env"),
    "netrc": lambda value: _file(
        f"machine api.x.example\n  login bob\n  password {value}\n", 950, "/root/.netrc"
    ),
    "npmrc": lambda value: _file(
        f"registry=https://r.example/\n//r.example/:_authToken={value}\n", 950, "/root/.npmrc"
    ),
    "kubeconfig": lambda value: _file(
        f"apiVersion: v1\nkind: Config\nusers:\n- name: a\n  user:\n    token: {value}\n",
        950, "/root/.kube/config",
    ),
    "compose": lambda value: _file(
        f"services:\n  db:\n    image: postgres\n    environment:\n      POSTGRES_PASSWORD: {value}\n",
        950, "/srv/app/compose.yaml",
    ),
    "TOML": lambda value: _file(f'[db]\npassword = "{value}"\n', 950, "/srv/app/settings.toml"),
    "YAML": lambda value: _file(f"db:\n  password: {value}\n", 950, "/srv/app/settings.yaml"),
    "JSON": lambda value: _file(json.dumps({"db": {"password": value}}, indent=1), 950, "/x.json"),
    "INI": lambda value: _file(f"[client]\npassword = {value}\n", 950, "/etc/my.cnf"),
    "address": lambda value: _file(f"postgres://app:{value}@db.internal/app\n", 950, "/x"),
    "ADO.NET": lambda value: _file(f"Server=db;User Id=sa;Password={value};\n", 950, "/x"),
    "docker config": lambda value: _file(
        json.dumps({"auths": {"r.example": {"auth": _base64(f"bob:{value}")}}}, indent=1),
        950, "/root/.docker/config.json",
    ),
    "Kubernetes secret": lambda value: _file(
        f"kind: Secret\ndata:\n  db: {_base64(value)}\n", 950, "/srv/app/secret.yaml"
    ),
    "terminal": lambda value: _terminal_v1(f"DB_PASSWORD={value}"),
    "numbered file": lambda value: [
        _content(_rows(f"db:\n  password: {value}", lambda number, row: f"{number:6}\u2192{row}"))
    ],
    "elicitation": lambda value: [
        _agent(950, "elicitation/create", message="Password?", mode="form", requestedSchema={
            "type": "object", "properties": {"password": {"type": "string"}},
        }),
        _answer("client", 950, {"action": "accept", "content": {"password": value}}),
    ],
}  # fmt: skip
