"""A small ACP v1 client on the PyPI package ``agent-client-protocol``.

Starts the agent whose command is its own arguments, holds one fixed conversation with it, and
prints what it saw as one JSON document: the messages of both directions as the SDK decoded or
sent them, and how the agent ended. Its own status is 0 if the conversation went to its end.
"""

import asyncio
import json
import os
import sys
from pathlib import Path
from typing import Any, cast

import acp
from acp import schema
from acp.connection import StreamDirection, StreamEvent
from acp.core import ClientSideConnection

SHUTDOWN_SECONDS = 60.0
CONVERSATION_SECONDS = 120.0


class Terminal:
    """One command run for the agent; its output is complete once it has ended."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self.process = process
        self.output = b""

    async def wait(self) -> int:
        self.output = (await self.process.communicate())[0] or self.output
        return self.process.returncode or 0


class NotesClient:
    """Serves two made-up files and real terminals, and allows what it is asked."""

    _agent: acp.Agent

    def __init__(self, folder: Path) -> None:
        self.files = {str(folder / "notes.txt"): "1. café\n2. 日本語\n3. end\n"}
        self.terminals: dict[str, Terminal] = {}
        self.updates: list[str] = []
        self.heard: list[str] = []

    def on_connect(self, conn: acp.Agent) -> None:
        self._agent = conn

    async def session_update(self, session_id: str, update: Any, **kwargs: Any) -> None:
        self.updates.append(update.session_update)
        if isinstance(update, schema.AgentMessageChunk) and update.content.type == "text":
            self.heard.append(update.content.text)
            if update.content.text.startswith("Waiting"):
                await self._agent.cancel(session_id)

    async def request_permission(
        self,
        session_id: str,
        tool_call: schema.ToolCallUpdate,
        options: list[schema.PermissionOption],
        **kwargs: Any,
    ) -> schema.RequestPermissionResponse:
        chosen = next(option for option in options if option.kind == "allow_once")
        return schema.RequestPermissionResponse(
            outcome=schema.AllowedOutcome(outcome="selected", option_id=chosen.option_id)
        )

    async def read_text_file(
        self,
        session_id: str,
        path: str,
        line: int | None = None,
        limit: int | None = None,
        **kwargs: Any,
    ) -> schema.ReadTextFileResponse:
        if path not in self.files:
            raise acp.RequestError.resource_not_found(path)
        return schema.ReadTextFileResponse(content=self.files[path])

    async def write_text_file(
        self, session_id: str, path: str, content: str, **kwargs: Any
    ) -> schema.WriteTextFileResponse:
        self.files[path] = content
        return schema.WriteTextFileResponse()

    async def create_terminal(
        self,
        session_id: str,
        command: str,
        args: list[str] | None = None,
        cwd: str | None = None,
        **kwargs: Any,
    ) -> schema.CreateTerminalResponse:
        process = await asyncio.create_subprocess_exec(
            command,
            *(args or []),
            cwd=cwd,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
        )
        terminal_id = f"terminal-{len(self.terminals) + 1}"
        self.terminals[terminal_id] = Terminal(process)
        return schema.CreateTerminalResponse(terminal_id=terminal_id)

    async def wait_for_terminal_exit(
        self, session_id: str, terminal_id: str, **kwargs: Any
    ) -> schema.WaitForTerminalExitResponse:
        return schema.WaitForTerminalExitResponse(
            exit_code=await self.terminals[terminal_id].wait()
        )

    async def terminal_output(
        self, session_id: str, terminal_id: str, **kwargs: Any
    ) -> schema.TerminalOutputResponse:
        terminal = self.terminals[terminal_id]
        return schema.TerminalOutputResponse(
            output=terminal.output.decode(),
            truncated=False,
            exit_status=schema.TerminalExitStatus(exit_code=terminal.process.returncode),
        )

    async def release_terminal(
        self, session_id: str, terminal_id: str, **kwargs: Any
    ) -> schema.ReleaseTerminalResponse:
        await self.terminals[terminal_id].wait()
        return schema.ReleaseTerminalResponse()

    async def ext_notification(self, method: str, params: dict[str, Any]) -> None:
        self.heard.append(f"{method} {json.dumps(params)}")


async def converse(agent: ClientSideConnection, folder: Path) -> dict[str, Any]:
    """Says everything this client has to say, one thing after the other."""
    refused: int | None = None
    ready = await agent.initialize(
        protocol_version=acp.PROTOCOL_VERSION,
        client_capabilities=schema.ClientCapabilities(
            fs=schema.FileSystemCapabilities(read_text_file=True, write_text_file=True),
            terminal=True,
        ),
        client_info=schema.Implementation(
            name="peers-v1-client", title="Notes Client ✓", version="4.5.6"
        ),
    )
    session = await agent.new_session(cwd=str(folder), mcp_servers=[])
    long_turn = await agent.prompt(
        session_id=session.session_id,
        prompt=[
            acp.text_block("Tidy up the notes ✓"),
            acp.resource_link_block("folder", f"file://{folder}"),
        ],
    )
    await agent.ext_notification("peers/note", {"about": "nothing"})
    echo = await agent.ext_method("peers/echo", {"text": "ça va", "big": 2**53 + 1})
    try:
        await agent.ext_method("peers/unknown", {})
    except acp.RequestError as error:
        refused = error.code
    cut_turn = await agent.prompt(session_id=session.session_id, prompt=[acp.text_block("wait")])
    return {
        "protocolVersion": ready.protocol_version,
        "agent": ready.agent_info.name if ready.agent_info else None,
        "sessionId": session.session_id,
        "stopReasons": [long_turn.stop_reason, cut_turn.stop_reason],
        "echo": echo,
        "refused": refused,
    }


async def main(command: list[str]) -> int:
    folder = Path.cwd()
    client = NotesClient(folder)
    wire: dict[str, list[dict[str, Any]]] = {"client": [], "agent": []}

    def witness(event: StreamEvent) -> None:
        sender = "client" if event.direction is StreamDirection.OUTGOING else "agent"
        wire[sender].append(event.message)

    async with acp.spawn_agent_process(
        cast("acp.Client", client),
        *command,
        env=os.environ,
        transport_kwargs={"stderr": None, "shutdown_timeout": SHUTDOWN_SECONDS},
        observers=[witness],
    ) as (agent, process):
        seen = await asyncio.wait_for(converse(agent, folder), CONVERSATION_SECONDS)
    seen["agentExit"] = process.returncode
    seen["updates"] = client.updates
    seen["heard"] = client.heard
    seen["files"] = client.files
    seen["wire"] = wire
    sys.stdout.write(json.dumps(seen, ensure_ascii=True, indent=1) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(asyncio.run(main(sys.argv[1:])))
