"""Secrets in transcripts: blanked wherever they stand, and told to be; all there with --raw."""

import json
from pathlib import Path

import pytest

from tests.cli.commands import invoke
from tests.cli.conversations import b64, request, result, update
from tests.cli.transcripts import FORMATS, assert_accounted, imported, tell, told

SECRET = "ghp_" + "A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q7r8"[:36]
PASSWORD = "correct-horse-7-battery"


@pytest.fixture
def log(tmp_path: Path) -> Path:
    """A log of a conversation with one secret in many places, and one that only its name tells."""
    said = [
        ("client", request(0, "initialize", protocolVersion=2)),
        ("agent", result(0, protocolVersion=2)),
        ("client", request(1, "session/new", cwd="/garden", mcpServers=[
            {"name": "w", "command": "w", "args": [], "env": [{"name": "GARDEN_PASSWORD", "value": PASSWORD}]},
        ])),
        ("agent", result(1, sessionId="s")),
        ("agent", update("agent_message_chunk", messageId="m", content={"type": "text", "text": f"It is {SECRET[:15]}"})),
        ("agent", update("agent_message_chunk", messageId="m", content={"type": "text", "text": f"{SECRET[15:]}, I think."})),
        ("agent", update("tool_call_update", toolCallId="c", title=f"use {SECRET}", status="completed",
                         rawInput={"header": f"Authorization: Bearer {SECRET}"}, content=[
                             {"type": "diff", "changes": [], "patch": {"format": "git_patch", "text": f"+{SECRET}\n"}}])),
        ("agent", update("terminal_update", terminalId="t", command=f"curl {SECRET}",
                         output={"data": b64(f"echo {SECRET}\n".encode())})),
        ("agent", update("terminal_output_chunk", terminalId="t", data=b64(SECRET[:9].encode()))),
        ("agent", update("terminal_output_chunk", terminalId="t", data=b64(SECRET[9:].encode()))),
        ("agent", update("notice", severity="info", title=SECRET)),
        ("agent", update("new_update", deep={"a": [SECRET]})),
        ("agent", {"jsonrpc": "2.0", "method": "_x", "params": {"_meta": {"key": SECRET}}}),
        ("stderr", f"using {SECRET}"),
        ("agent", f"not json {SECRET}"),
    ]  # fmt: skip
    lines = [{"acp-proxy": 1, "connection": {"command": ["agent", "--token", SECRET]}}, *(
        {"from": who, **({"message": what} if isinstance(what, dict) else {"data": what})} for who, what in said
    )]  # fmt: skip
    file = tmp_path / "secrets.jsonl"
    file.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return imported(tmp_path / "log.db", file)


@pytest.mark.parametrize("form", FORMATS)
def test_no_secret_is_left(log: Path, form: str) -> None:
    for options in ((), ("--full",), ("--session", "s"), ("--at", "10")):
        written = tell(log, form, *options).decode()
        for secret in (SECRET, SECRET[:15], SECRET[15:], PASSWORD):
            assert secret not in written
        assert "[redacted]" in written.replace("\\", "")


@pytest.mark.parametrize("form", FORMATS)
def test_raw_leaves_all_as_it_was(log: Path, form: str) -> None:
    written = tell(log, form, "--raw", "--full").decode()

    assert SECRET in written.replace("\\", "")
    assert PASSWORD in written
    assert "[redacted]" not in written


def test_it_is_said_how_much_was_blanked(log: Path) -> None:
    blanked, raw = invoke("transcript", "--log", log), invoke("transcript", "--log", log, "--raw")

    assert "values blanked; --raw leaves them as they are" in blanked.stderr
    assert "nothing was blanked" in raw.stderr
    assert_accounted(told(log))


def test_it_is_said_on_stderr_only(log: Path, tmp_path: Path) -> None:
    done = invoke("transcript", "--log", log, "-o", tmp_path / "a.txt")

    assert done.stdout == ""
    assert "blanked" not in (tmp_path / "a.txt").read_text()
