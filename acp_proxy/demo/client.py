"""A tiny honest ACP client (version 1), for the demonstration. Standard library only.

Its arguments are the agent's command. It asks one thing, allows what it is asked
for, prints what it sees, and ends the conversation; it soon gives up on an agent that is to hang.
"""

import json
import select
import subprocess
import sys
from typing import Any

_PATIENCE_SECONDS = 1.0
"""How long the agent may be silent in a turn when it is to hang: it has nothing to do that takes time."""
_START_SECONDS = 30.0


class Client:
    """One conversation with an agent."""

    def __init__(self, command: list[str]) -> None:
        self._agent = subprocess.Popen(
            command,
            bufsize=0,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
        self._next_id = 0
        self._received = b""
        self._patience = _START_SECONDS

    def request(self, method: str, **params: object) -> Any:
        """Send a request, see to what comes meanwhile, and return the result."""
        request_id, self._next_id = self._next_id, self._next_id + 1
        self._send({"id": request_id, "method": method, "params": params})
        while True:
            message = self._receive()
            if "method" in message:
                self._see_to(message)
            elif message.get("id") == request_id:
                return message["result"]

    def be_impatient(self) -> None:
        """Give up from now on when the agent is silent for a second."""
        self._patience = _PATIENCE_SECONDS

    def give_up(self) -> None:
        """End an agent that does not answer."""
        self._agent.terminate()
        self._agent.wait()

    def close(self) -> int:
        """End the conversation; return the agent's exit code."""
        assert self._agent.stdin is not None
        self._agent.stdin.close()
        return self._agent.wait()

    def _see_to(self, message: dict[str, Any]) -> None:
        params = message["params"]
        if message["method"] == "session/request_permission":
            option = params["options"][0]
            print(f"  agent asks:  may I? -> {option['name']}")
            outcome = {"outcome": "selected", "optionId": option["optionId"]}
            self._send({"id": message["id"], "result": {"outcome": outcome}})
            return
        update = params["update"]
        if update["sessionUpdate"] == "agent_message_chunk":
            print(f"  agent says:  {update['content']['text']}")
        else:
            print(f"  tool call:   {update['toolCallId']} {update.get('status')}")

    def _send(self, message: dict[str, Any]) -> None:
        assert self._agent.stdin is not None
        text = json.dumps({"jsonrpc": "2.0", **message}, separators=(",", ":"))
        self._agent.stdin.write(text.encode() + b"\n")

    def _receive(self) -> dict[str, Any]:
        assert self._agent.stdout is not None
        while b"\n" not in self._received:
            if not select.select([self._agent.stdout], [], [], self._patience)[0]:
                raise TimeoutError
            piece = self._agent.stdout.read(65536)
            if not piece:
                raise SystemExit("the agent has gone")
            self._received += piece
        line, _, self._received = self._received.partition(b"\n")
        message: dict[str, Any] = json.loads(line)
        return message


def main() -> None:
    """Hold the conversation."""
    sys.stdout.reconfigure(errors="backslashreplace")  # type: ignore[union-attr]
    client = Client(sys.argv[1:])
    info = {"name": "demo-client", "version": "1"}
    client.request("initialize", protocolVersion=1, clientCapabilities={}, clientInfo=info)
    session = client.request("session/new", cwd="/", mcpServers=[])["sessionId"]
    question = "How many words has the question that I ask?"
    print(f"  client asks: {question}")
    prompt = [{"type": "text", "text": question}]
    is_to_hang = "--hang" in sys.argv  # else silence is only a machine with much to do
    if is_to_hang:
        client.be_impatient()
    try:
        result = client.request("session/prompt", sessionId=session, prompt=prompt)
    except TimeoutError:
        print("  no answer:   the client gives up")
        client.give_up()
        sys.exit(0 if is_to_hang else "the agent does not answer")
    print(f"  turn ended:  {result['stopReason']}")
    sys.exit(client.close())


if __name__ == "__main__":
    main()
