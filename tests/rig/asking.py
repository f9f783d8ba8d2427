"""What the log tells of its one connection, asked through the program's own commands."""

from __future__ import annotations

import base64
import json
from collections import Counter
from typing import TYPE_CHECKING, Any

from tests.rig.account import Account, Json
from tests.rig.reading import text_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.harness import Log


def ask(log: Log) -> Account:
    """Return what the commands say that the conversation came to."""
    rows = log.messages()
    [connection] = log.connections()
    account = Account(messages=connection["messages"], version=connection["protocolVersion"])
    account.updates = dict(Counter(row["sessionUpdate"] for row in rows if "sessionUpdate" in row))
    for session, call in _parts(log, "toolCalls", "tool-calls"):
        account.tool_calls[f"{session} {call['toolCallId']}"] = {
            "title": call.get("title"),
            "kind": call["kind"],
            "status": call["status"],
        }
    asked = [permission for _, permission in _parts(log, "permissions", "permissions")]
    account.permissions = [_permission(each) for each in sorted(asked, key=lambda p: p["seq"])]
    for session, terminal in _parts(log, "terminals", "terminals"):
        name = f"{session} {terminal['owner']} {terminal['terminalId']}"
        account.terminals[name] = _terminal(terminal)
    for session, message in _parts(log, "messages", "state"):
        if message["role"] != "user":
            said = f"{message['role']}: {text_of(message['content'])}"
            account.texts.setdefault(session, []).append(said)
    for session, turn in _parts(log, "turns", "state"):
        if "stopReason" in turn:
            account.ends.setdefault(session, []).append(turn["stopReason"])
    _transcript(log, account)
    return account


def _answer(log: Log, *words: str) -> Any:
    """Return the JSON of a command; 1 means that there is nothing of the kind."""
    done = log.ask(*words)
    if done.returncode not in {0, 1}:
        raise AssertionError(f"{words} ended {done.returncode}: {done.stderr.decode()}")
    return json.loads(done.stdout) if done.stdout else {}


def _parts(log: Log, key: str, command: str) -> Iterator[tuple[str, Json]]:
    for session in _answer(log, command, "--json").get("sessions", []):
        for part in session.get(key, []):
            yield session["sessionId"], part


def _permission(told: Json) -> Json:
    call = told.get("toolCall") or (told.get("subject") or {}).get("toolCall") or {}
    permission = {
        "requestId": told["requestId"],
        "options": [option["optionId"] for option in told["options"]],
        "toolCallId": call.get("toolCallId"),
        "status": told["status"],
    }
    return permission | ({"optionId": told["optionId"]} if "optionId" in told else {})


def _terminal(told: Json) -> Json:
    output, status = told.get("output"), told.get("exitStatus")
    ended = (
        {key: status[key] for key in ("exitCode", "signal") if status.get(key) is not None}
        if (status is not None)
        else None
    )
    return {"output": base64.b64decode(output["data"]) if output else None, "exit": ended}


def _transcript(log: Log, account: Account) -> None:
    for session in _answer(log, "transcript", "--format", "json", "--raw", "--full")["sessions"]:
        name, told = session.get("sessionId"), set()
        for entry in session["entries"]:
            if entry["entry"] == "message" and entry["role"] != "user":
                told.add(f"{entry['role']}: {text_of(entry['content'])}")
            elif entry["entry"] == "plan":
                plan = entry["plan"]
                account.plans[f"{name} {plan['planId']}" if "planId" in plan else name] = plan
        if told:
            account.told[name] = sorted(told)
