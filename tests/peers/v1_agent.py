"""A small ACP v1 agent on the PyPI package ``agent-client-protocol``, speaking on stdio.

Every message but the first is caused by one from the client, and all ids are fixed, so two
conversations with the same client are the same to the byte. It ends with status 0 at EOF.
"""

import asyncio
import sys
from typing import Any, cast

import acp
from acp import schema

EXECUTE_CODE = (
    "import sys; sys.stdout.buffer.write('déjà vu ✓\\n'.encode()); sys.stdout.flush(); sys.exit(3)"
)
OPTIONS = [
    schema.PermissionOption(option_id="allow", name="Allow once", kind="allow_once"),
    schema.PermissionOption(option_id="reject", name="Reject", kind="reject_once"),
]


class NotesAgent:
    """Tidies notes: a long turn with tools, a short one that asks, one that waits for its cancel."""

    _client: acp.Client

    def __init__(self) -> None:
        self._sessions = 0
        self._cwd = ""
        self._cancelled = asyncio.Event()

    def on_connect(self, conn: acp.Client) -> None:
        self._client = conn

    async def initialize(
        self,
        protocol_version: int,
        client_capabilities: schema.ClientCapabilities | None = None,
        client_info: schema.Implementation | None = None,
        **kwargs: Any,
    ) -> schema.InitializeResponse:
        return schema.InitializeResponse(
            protocol_version=min(protocol_version, acp.PROTOCOL_VERSION),
            agent_capabilities=schema.AgentCapabilities(load_session=False),
            agent_info=schema.Implementation(
                name="peers-v1-agent", title="Notes Agent ✓", version="1.2.3"
            ),
        )

    async def new_session(
        self,
        cwd: str,
        additional_directories: list[str] | None = None,
        mcp_servers: Any = None,
        **kwargs: Any,
    ) -> schema.NewSessionResponse:
        self._sessions += 1
        self._cwd = cwd
        return schema.NewSessionResponse(session_id=f"session-{self._sessions}")

    async def prompt(
        self, session_id: str, prompt: list[Any], **kwargs: Any
    ) -> schema.PromptResponse:
        text = "".join(block.text for block in prompt if isinstance(block, schema.TextContentBlock))
        if text == "wait":
            await self._say(session_id, "Waiting …")
            await self._cancelled.wait()
            return schema.PromptResponse(stop_reason="cancelled")
        cwd = self._cwd
        if text == "ask":
            await self._edit(session_id, f"{cwd}/notes.txt", "1. café\n")
            await self._say(session_id, "Asked ✓")
            return schema.PromptResponse(stop_reason="end_turn")
        await self._open_turn(session_id)
        notes = await self._read(session_id, f"{cwd}/notes.txt")
        await self._read_missing(session_id, f"{cwd}/missing.txt")
        await self._edit(session_id, f"{cwd}/notes.txt", notes)
        await self._execute(session_id, cwd)
        await self._close_turn(session_id)
        return schema.PromptResponse(stop_reason="end_turn")

    async def cancel(self, session_id: str, **kwargs: Any) -> None:
        self._cancelled.set()

    async def ext_method(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        if method != "peers/echo":
            raise acp.RequestError.method_not_found(f"_{method}")
        await self._client.ext_notification("peers/heard", {"keys": sorted(params)})
        return params

    async def ext_notification(self, method: str, params: dict[str, Any]) -> None:
        """Nothing to do: the message is on the wire, which is the point."""

    async def _say(self, session_id: str, text: str) -> None:
        await self._client.session_update(session_id, acp.update_agent_message_text(text))

    async def _open_turn(self, session_id: str) -> None:
        client = self._client
        command = schema.AvailableCommand(name="tidy", description="Tidies the notes")
        await client.session_update(
            session_id,
            schema.AvailableCommandsUpdate(
                session_update="available_commands_update", available_commands=[command]
            ),
        )
        await client.session_update(
            session_id, acp.update_agent_thought_text("I will read the notes, naïvely.")
        )
        await client.session_update(
            session_id,
            acp.update_plan(
                [
                    acp.plan_entry("Read the notes", priority="high", status="in_progress"),
                    acp.plan_entry("Tidy them up", status="pending"),
                ]
            ),
        )
        for piece in ("Let me ", "look … ", "日本語 🚀\n"):
            await self._say(session_id, piece)

    async def _read(self, session_id: str, path: str) -> str:
        client = self._client
        await client.session_update(
            session_id, acp.start_read_tool_call("call-read", "Read notes.txt", path)
        )
        answer = await client.read_text_file(session_id=session_id, path=path)
        await client.session_update(
            session_id,
            acp.update_tool_call(
                "call-read",
                status="completed",
                content=[acp.tool_content(acp.text_block(answer.content))],
                raw_output={"characters": len(answer.content)},
            ),
        )
        return answer.content

    async def _read_missing(self, session_id: str, path: str) -> None:
        client = self._client
        await client.session_update(
            session_id,
            acp.start_tool_call("call-missing", "Read missing.txt", kind="read", status="pending"),
        )
        try:
            await client.read_text_file(session_id=session_id, path=path, line=1, limit=10)
        except acp.RequestError as error:
            await client.session_update(
                session_id,
                acp.update_tool_call(
                    "call-missing", status="failed", raw_output={"code": error.code}
                ),
            )

    async def _edit(self, session_id: str, path: str, notes: str) -> None:
        client = self._client
        tidy = notes.upper()
        await client.session_update(
            session_id,
            acp.start_edit_tool_call("call-edit", "Edit notes.txt", path, {"text": tidy}),
        )
        if allowed := await self._allowed(session_id, "call-edit"):
            await client.write_text_file(session_id=session_id, path=path, content=tidy)
        await client.session_update(
            session_id,
            acp.update_tool_call(
                "call-edit",
                status="completed" if allowed else "failed",
                content=[acp.tool_diff_content(path, tidy, notes)],
            ),
        )

    async def _allowed(self, session_id: str, call: str) -> bool:
        """Asks for permission; a client that cannot be asked has not given it."""
        try:
            answer = await self._client.request_permission(
                session_id=session_id,
                tool_call=schema.ToolCallUpdate(tool_call_id=call, status="pending"),
                options=OPTIONS,
            )
        except acp.RequestError:
            return False
        return (
            isinstance(answer.outcome, schema.AllowedOutcome)
            and answer.outcome.option_id == "allow"
        )

    async def _execute(self, session_id: str, cwd: str) -> None:
        client = self._client
        await client.session_update(
            session_id,
            acp.start_tool_call("call-run", "Run a check", kind="execute", status="pending"),
        )
        terminal = await client.create_terminal(
            session_id=session_id, command=sys.executable, args=["-c", EXECUTE_CODE], cwd=cwd
        )
        await client.session_update(
            session_id,
            acp.update_tool_call(
                "call-run",
                status="in_progress",
                content=[acp.tool_terminal_ref(terminal.terminal_id)],
            ),
        )
        ids = {"session_id": session_id, "terminal_id": terminal.terminal_id}
        ended = await client.wait_for_terminal_exit(**ids)
        shown = await client.terminal_output(**ids)
        await client.release_terminal(**ids)
        await client.session_update(
            session_id,
            acp.update_tool_call(
                "call-run",
                status="completed",
                raw_output={"exitCode": ended.exit_code, "output": shown.output},
            ),
        )

    async def _close_turn(self, session_id: str) -> None:
        await self._client.session_update(
            session_id,
            acp.update_plan(
                [
                    acp.plan_entry("Read the notes", priority="high", status="completed"),
                    acp.plan_entry("Tidy them up", status="completed"),
                ]
            ),
        )
        await self._say(session_id, "Done ✓")


async def main() -> None:
    sys.stderr.write("v1 agent ready ✓\n")
    sys.stderr.flush()
    await acp.run_agent(cast("acp.Agent", NotesAgent()))


if __name__ == "__main__":
    asyncio.run(main())
