"""What a client could know of a conversation, worked out from the lines that it saw and wrote.

An independent, plain reading of both protocol versions: it imports nothing of the proxy, so that
both can be compared. Whatever only one of thousands of agents does is not in here.
"""

from __future__ import annotations

import base64
import json
from collections import Counter
from typing import TYPE_CHECKING, Any

from tests.rig.account import Account, Json

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tests.rig.capture import Line

_UNFINISHED = {"title": None, "kind": "other", "status": "pending"}
_CLIENT_TERMINAL = {"terminal/create", "terminal/output", "terminal/wait_for_exit"}
_ROLES = {"agent_message": "agent", "agent_thought": "thought", "user_message": "user"}


def read(lines: Iterable[Line]) -> Account:
    """Return what these lines come to."""
    reader = _Reader()
    for line in lines:
        reader.line(line)
    return reader.finish()


class _Texts:
    """The messages of one session: chunks put together, whole messages put in their place."""

    def __init__(self) -> None:
        self.rows: list[Json] = []
        self.past: list[Json] = []  # what a replay has replaced
        self._open: Json | None = None  # what a chunk without an id goes on with
        self._fresh: list[Json] | None = None  # told in the replay that is going on

    def end(self) -> None:
        """Something else stands between: a chunk without an id begins a message."""
        self._open = None

    def replay(self, begins: bool) -> None:
        self._fresh = [] if begins else None
        self._open = None

    def forget(self) -> None:
        """The first message of a version 1 replay: all is told anew."""
        if self._fresh == []:
            self.past += self.rows
            self.rows = []

    def chunk(self, role: str, key: str | None, text: str) -> None:
        row = self._find(role, key) or self._going_on(role, key) or self._begin(role, key)
        if self._fresh is not None and not any(row is told for told in self._fresh):
            self._fresh.append(row)
            row["text"] = ""
        row["text"] += text
        self._open = row

    def whole(self, role: str, key: str | None, text: str | None) -> None:
        row = self._find(role, key) or self._begin(role, key)
        if self._fresh is not None:
            self._fresh.append(row)
        if text is not None:
            row["text"] = text

    def _find(self, role: str, key: str | None) -> Json | None:
        same = (row for row in self.rows if (row["role"], row["id"]) == (role, key))
        return next(same, None) if key is not None else None

    def _going_on(self, role: str, key: str | None) -> Json | None:
        """The last message, if nothing else came since and the ids do not speak against it."""
        row = self._open
        if row is None or row["role"] != role or (key is not None and row["id"] is not None):
            return None
        row["id"] = row["id"] or key
        return row

    def _begin(self, role: str, key: str | None) -> Json:
        self.rows.append({"role": role, "id": key, "text": ""})
        return self.rows[-1]


class _Reader:
    def __init__(self) -> None:
        self._account = Account()
        self._updates: Counter[str] = Counter()
        self._asked: dict[tuple[str, str], list[Json]] = {}
        self._texts: dict[str, _Texts] = {}
        self._is_v1 = True
        self._busy: set[str] = set()
        self._replayed: dict[str, set[str]] = {}  # session: terminals told anew so far

    def finish(self) -> Account:
        account = self._account
        account.updates = dict(self._updates)
        for session, texts in self._texts.items():
            if now := _said(texts.rows):
                account.texts[session] = now
            if ever := _said(texts.past + texts.rows):
                account.told[session] = sorted(set(ever))
        for asked in account.permissions:
            asked.setdefault("status", "abandoned")
        return account

    def line(self, line: Line) -> None:
        try:
            value = json.loads(line.raw) if line.sender != "stderr" else None
        except ValueError:
            value = None
        messages = value if isinstance(value, list) and value else [value]
        self._account.messages += len(messages)
        for message in messages:
            if isinstance(message, dict):
                self._message(line.sender, message)

    def _message(self, sender: str, message: Json) -> None:
        params = message.get("params") or {}
        if "method" not in message:
            other = "agent" if sender == "client" else "client"
            if asked := self._asked.get((other, json.dumps(message.get("id")))):
                self._answer(asked.pop(0), message)
            return
        if "id" in message:
            self._asked.setdefault((sender, json.dumps(message["id"])), []).append(message)
        method = message["method"]
        if method == "session/update":
            self._updates[params["update"]["sessionUpdate"]] += 1
            self._update(params["sessionId"], params["update"])
        elif method == "session/request_permission":
            self._permission(message["id"], params)
            message["asked"] = self._account.permissions[-1]
        elif method == "session/prompt":
            self._of(params["sessionId"]).end()
        elif method == "session/load" or params.get("replayFrom"):
            self._of(params["sessionId"]).replay(begins=True)
            self._replayed[params["sessionId"]] = set()

    def _answer(self, request: Json, answer: Json) -> None:
        method, params = request["method"], request.get("params") or {}
        result = answer.get("result") or {}
        if method == "initialize":
            self._account.version = result.get("protocolVersion", self._account.version)
            self._is_v1 = self._account.version == 1
        elif method == "session/request_permission":
            outcome = result.get("outcome", {"outcome": "error"})
            request["asked"]["status"] = outcome["outcome"]
            if "optionId" in outcome:
                request["asked"]["optionId"] = outcome["optionId"]
        elif method in _CLIENT_TERMINAL and "result" in answer:
            self._client_terminal(method, params | result)
        elif method == "session/prompt":  # in version 1 that is the end of the turn
            self._end(params["sessionId"], result)
        elif method in {"session/load", "session/resume"}:
            self._of(params["sessionId"]).replay(begins=False)
            self._replayed.pop(params["sessionId"], None)

    def _of(self, session: str) -> _Texts:
        return self._texts.setdefault(session, _Texts())

    def _end(self, session: str, told: Json) -> None:
        if "stopReason" in told:
            self._account.ends.setdefault(session, []).append(told["stopReason"])

    # What an update says.

    def _update(self, session: str, update: Json) -> None:
        kind = update["sessionUpdate"]
        if kind in {"tool_call", "tool_call_update"}:
            self._is_v1 = self._is_v1 or kind == "tool_call"
            self._call(session, update, anew=kind == "tool_call")
        elif kind == "tool_call_content_chunk":
            self._call(session, {"toolCallId": update["toolCallId"]})
        elif kind in {"terminal_update", "terminal_output_chunk"}:
            self._agent_terminal(session, update)
        elif kind == "state_update" and update["state"] != "idle":
            self._busy.add(session)
        elif kind == "state_update" and session in self._busy:  # idle is also said again
            self._busy.discard(session)
            self._end(session, update)
        elif kind == "plan":
            self._account.plans[session] = {"entries": update["entries"]}
        elif kind == "plan_update":
            plan = update["plan"]
            self._account.plans[f"{session} {plan.get('planId')}"] = plan
        elif kind.removesuffix("_chunk") in _ROLES:
            self._text(session, kind, update)

    def _text(self, session: str, kind: str, update: Json) -> None:
        texts, role = self._of(session), _ROLES[kind.removesuffix("_chunk")]
        if self._is_v1:
            texts.forget()
        if kind.endswith("_chunk"):
            texts.chunk(role, update.get("messageId"), text_of([update["content"]]))
        else:
            whole = text_of(update["content"] or []) if "content" in update else None
            texts.whole(role, update.get("messageId"), whole)

    def _call(self, session: str, patch: Json, *, anew: bool = False) -> None:
        name = f"{session} {patch['toolCallId']}"
        if name not in self._account.tool_calls:
            self._of(session).end()
        call = self._account.tool_calls.setdefault(name, dict(_UNFINISHED))
        if anew:
            call.update(_UNFINISHED)
        for key in call.keys() & patch.keys():
            if patch[key] is not None:
                call[key] = patch[key]
            elif not self._is_v1:
                call[key] = _UNFINISHED[key]
        if self._is_v1:
            self._meta_terminal(session, patch.get("_meta") or {})

    def _permission(self, request_id: Any, params: Json) -> None:
        subject = params.get("subject") or {}
        call = params.get("toolCall") or subject.get("toolCall") or {}
        options = [option["optionId"] for option in params["options"]]
        told = {"requestId": request_id, "options": options, "toolCallId": call.get("toolCallId")}
        self._account.permissions.append(told)
        if call:
            self._call(params["sessionId"], call)

    # The three kinds of terminals.

    def _terminal(self, session: str, owner: str, key: str) -> Json:
        name = f"{session} {owner} {key}"
        return self._account.terminals.setdefault(name, {"output": None, "exit": None})

    def _append(self, session: str, terminal: Json, name: str, data: bytes) -> None:
        told = self._replayed.get(session)
        if told is not None and name not in told:
            terminal["output"] = None
            told.add(name)
        terminal["output"] = (terminal["output"] or b"") + data

    def _client_terminal(self, method: str, told: Json) -> None:
        terminal = self._terminal(told["sessionId"], "client", told["terminalId"])
        if method == "terminal/output":
            terminal["output"] = told["output"].encode()
            if told.get("exitStatus"):
                terminal["exit"] = _exit(told["exitStatus"])
        elif method == "terminal/wait_for_exit":
            terminal["exit"] = _exit(told)

    def _meta_terminal(self, session: str, meta: Json) -> None:
        for what in ("terminal_info", "terminal_output", "terminal_output_delta", "terminal_exit"):
            if what not in meta:
                continue
            told = meta[what]
            terminal = self._terminal(session, "meta", told["terminal_id"])
            if "output" in what:
                name = f"meta {told['terminal_id']}"
                self._append(session, terminal, name, told["data"].encode())
            elif what == "terminal_exit":
                terminal["exit"] = _exit(
                    {"exitCode": told.get("exit_code"), "signal": told.get("signal")}
                )

    def _agent_terminal(self, session: str, update: Json) -> None:
        terminal = self._terminal(session, "agent", update["terminalId"])
        name = f"agent {update['terminalId']}"
        if update["sessionUpdate"] == "terminal_output_chunk":
            self._append(session, terminal, name, base64.b64decode(update["data"]))
            return
        if "output" in update:
            output = update["output"]
            terminal["output"] = base64.b64decode(output["data"]) if output else None
            if session in self._replayed:
                self._replayed[session].add(name)
        if "exitStatus" in update:
            status = update["exitStatus"]
            terminal["exit"] = None if status is None else _exit(status)


def _said(rows: list[Json]) -> list[str]:
    return [f"{row['role']}: {row['text']}" for row in rows if row["role"] != "user"]


def _exit(told: Json) -> Json:
    return {key: told[key] for key in ("exitCode", "signal") if told.get(key) is not None}


def text_of(blocks: list[Json]) -> str:
    """Return the text of content blocks; what is no text is named."""
    return "".join(
        block["text"] if block.get("type") == "text" else f"<{block.get('type')}>"
        for block in blocks
    )
