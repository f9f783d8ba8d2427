"""A tiny honest ACP agent (version 1), for the demonstration. Standard library only.

It answers initialize and session/new, and a prompt with some updates, a tool call
that needs permission, and a last word. With --hang it falls silent after the permission.
"""

import json
import signal
import sys
from typing import Any, NoReturn


def send(message: dict[str, Any]) -> None:
    """Write one message."""
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}, separators=(",", ":")) + "\n")
    sys.stdout.flush()


def receive() -> dict[str, Any] | None:
    """Return the next message, None at the end."""
    line = sys.stdin.readline()
    message: dict[str, Any] | None = json.loads(line) if line else None
    return message


def update(session: str, what: str, /, **fields: object) -> None:
    """Tell the client what happens."""
    change = {"sessionUpdate": what, **fields}
    send({"method": "session/update", "params": {"sessionId": session, "update": change}})


def say(session: str, text: str) -> None:
    """Say a piece of the answer."""
    update(session, "agent_message_chunk", content={"type": "text", "text": text})


def ask(session: str) -> bool:
    """Ask for permission to run the tool; tell whether it was given."""
    options = [
        {"optionId": "yes", "name": "Allow", "kind": "allow_once"},
        {"optionId": "no", "name": "Reject", "kind": "reject_once"},
    ]
    params = {"sessionId": session, "toolCall": {"toolCallId": "call-1"}, "options": options}
    send({"id": 0, "method": "session/request_permission", "params": params})
    answer = receive() or {}
    outcome = answer.get("result", {}).get("outcome", {})
    return bool(outcome.get("optionId") == "yes")


def fall_silent() -> NoReturn:
    """Say what agents say when they get stuck, and wait until somebody ends this."""
    sys.stderr.write("demo agent: waiting for the database\n")
    sys.stderr.flush()
    while True:
        signal.pause()


def prompt(session: str) -> str:
    """Work on a prompt; return why it ended."""
    say(session, "Let me ")
    say(session, "count the words.")
    update(
        session,
        "tool_call",
        toolCallId="call-1",
        title="Count words",
        kind="other",
        status="pending",
    )
    if not ask(session):
        update(session, "tool_call_update", toolCallId="call-1", status="failed")
        return "cancelled"
    update(session, "tool_call_update", toolCallId="call-1", status="in_progress")
    if "--hang" in sys.argv:
        fall_silent()
    text = {"type": "text", "text": "9"}
    update(
        session,
        "tool_call_update",
        toolCallId="call-1",
        status="completed",
        content=[{"type": "content", "content": text}],
    )
    say(session, "There are nine, if my naïve counting is right.")
    return "end_turn"


def main() -> None:
    """Serve until the client has gone."""
    sys.stderr.write("demo agent: ready\n")
    sys.stderr.flush()
    results: dict[str, dict[str, Any]] = {
        "initialize": {
            "protocolVersion": 1,
            "agentCapabilities": {},
            "agentInfo": {"name": "demo-agent", "version": "1"},
        },
        "session/new": {"sessionId": "demo-session"},
    }
    while (message := receive()) is not None:
        method = message.get("method")
        if method == "session/prompt":
            reason = prompt(message["params"]["sessionId"])
            send({"id": message["id"], "result": {"stopReason": reason}})
        elif method in results:
            send({"id": message["id"], "result": results[method]})
        elif "id" in message and method is not None:
            error = {"code": -32601, "message": f"Method not found: {method}"}
            send({"id": message["id"], "error": error})


if __name__ == "__main__":
    main()
