"""Clients and agents that others ship, through the proxy: the log tells what the client showed.

The npm client acpx, the PyPI client toad at a terminal, the examples of the Python SDK, and
fast-agent with its passthrough model. What is not installed is skipped; larger agents are played
with ``python -m tests.rig``.
"""

import json
import re
import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import pytest

from tests.harness import Log
from tests.peers.at_terminal import AtTerminal
from tests.peers.running import (
    ACP_PROXY,
    CONVERSATION_SECONDS,
    Ended,
    acpx,
    found,
    run,
    sdk_examples,
    sdk_version,
)

NOTES = "1. café\n2. 日本語\n"
UUID = re.compile(rb"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
METHOD_NOT_FOUND = -32601

Json = dict[str, Any]


class Told:
    """What the commands tell of the only connection, each asked at most once."""

    def __init__(self, log: Log) -> None:
        self._log = log

    def things(self, command: str, key: str) -> list[Json]:
        """The tool calls, permissions or terminals of the only session."""
        [session] = self._answer(command, "--json")["sessions"]
        found: list[Json] = session[key]
        return found

    @cached_property
    def calls(self) -> list[Json]:
        return self.things("tool-calls", "toolCalls")

    @cached_property
    def permission(self) -> Json:
        [permission] = self.things("permissions", "permissions")
        return permission

    @cached_property
    def terminal(self) -> Json:
        [terminal] = self.things("terminals", "terminals")
        return terminal

    @property
    def output(self) -> str:
        """What the only terminal showed, as text."""
        done = self._log.ask("terminal", self.terminal["terminalId"], "--raw")
        return done.stdout.decode().replace("\r\n", "\n")

    def entries(self, kind: str) -> list[Json]:
        """The entries of one kind in the transcript, in their order."""
        return [entry for entry in self._transcript if entry["entry"] == kind]

    def texts(self, role: str) -> list[str]:
        """What one side said, message by message, as the transcript tells it."""
        said = [entry for entry in self.entries("message") if entry["role"] == role]
        return ["".join(block["text"] for block in entry["content"]) for entry in said]

    @cached_property
    def _transcript(self) -> list[Json]:
        document = self._answer("transcript", "--format", "json")
        return [entry for session in document["sessions"] for entry in session["entries"]]

    def _answer(self, *words: str) -> Any:
        done = self._log.ask(*words)
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)


@dataclass(frozen=True)
class Twice:
    """A conversation held straight and through the proxy, and the log of the second time."""

    direct: Ended
    proxied: Ended
    log: Log


def twice(folder: Path, client: Callable[[list[str]], Ended], agent: list[str]) -> Twice:
    """Lets the client talk to the agent both ways; each finds the same notes."""
    log, notes = Log(folder / "log.db"), folder / "notes.txt"
    notes.write_text(NOTES)
    direct = client(agent)
    notes.write_text(NOTES)
    proxied = client([ACP_PROXY, "run", "--log", str(log.path), "--", *agent])
    return Twice(direct, proxied, log)


@pytest.fixture(scope="session")
def notes_agent() -> list[str]:
    """An agent on the Python SDK: one turn with four tool calls, or one that only asks."""
    sdk_version()
    return [sys.executable, str(Path(__file__).parent / "v1_agent.py")]


# acpx


def by_acpx(folder: Path, agent: list[str], prompt: str, form: str = "text") -> Ended:
    """One prompt by acpx, which allows what it is asked; it cuts the agent's command at blanks."""
    command = [*acpx(), "--cwd", str(folder), "--approve-all", "--timeout", "120"]
    command += ["--format", form, "--agent", " ".join(agent), "exec", prompt]
    return run(command, cwd=folder, seconds=CONVERSATION_SECONDS, HOME=str(folder))


@pytest.fixture(scope="module")
def tidied(tmp_path_factory: pytest.TempPathFactory, notes_agent: list[str]) -> Twice:
    folder = tmp_path_factory.mktemp("acpx")
    return twice(folder, lambda agent: by_acpx(folder, agent, "tidy up"), notes_agent)


def test_acpx_prints_and_ends_as_without_the_proxy(tidied: Twice) -> None:
    assert (tidied.direct.status, tidied.direct.stderr) == (0, b"")
    assert (tidied.proxied.status, tidied.proxied.stderr) == (0, b"")
    assert b"[done] end_turn" in tidied.direct.stdout
    # acpx names each terminal anew
    assert UUID.sub(b"ID", tidied.proxied.stdout) == UUID.sub(b"ID", tidied.direct.stdout)


def test_the_log_tells_what_acpx_printed(tidied: Twice) -> None:
    printed = tidied.proxied.stdout.decode()
    told = Told(tidied.log)

    calls = {call["title"]: call["status"] for call in told.calls}
    assert calls == dict(re.findall(r"^\[tool\] (.+) \((\w+)\)$", printed, re.MULTILINE))
    assert calls["Read missing.txt"] == "failed"
    assert calls["Edit notes.txt"] == "completed"

    assert told.permission["toolCall"]["toolCallId"] == "call-edit"
    assert (told.permission["status"], told.permission["optionId"]) == ("selected", "allow")
    assert printed.count("[client] session/request_permission") == 1

    assert re.findall(r"\[terminal\] (\S+)", printed) == [told.terminal["terminalId"]]
    assert told.terminal["exitStatus"]["exitCode"] == 3
    assert told.output == "déjà vu ✓\n"
    assert "    déjà vu ✓\n" in printed

    plans = [entry["plan"]["entries"] for entry in told.entries("plan")]
    assert [[f"  - [{step['status']}] {step['content']}" for step in plan] for plan in plans] == [
        block.splitlines()
        for block in re.findall(r"^\[plan\]\n((?:  - .+\n)+)", printed, re.MULTILINE)
    ]

    assert told.texts("user") == ["tidy up"]
    assert told.texts("agent") == ["Let me look … 日本語 🚀\n", "Done ✓"]
    assert all(text.strip() in printed for text in told.texts("agent") + told.texts("thought"))
    assert tidied.log.connection()["client"]["name"] == "acpx"
    tidied.log.assert_clean()


def test_tables_and_text_show_it_too(tidied: Twice) -> None:
    def shown(command: str) -> list[str]:
        done = tidied.log.ask(command)
        assert done.returncode == 0, done.stderr
        return done.stdout.decode().splitlines()

    printed = tidied.proxied.stdout.decode()
    [connection] = shown("connections")[1:]
    assert re.search(r" acpx [\d.]+ +peers-v1-agent 1\.2\.3 +1 ", connection)
    calls = dict(re.findall(r"^\[tool\] (.+) \((\w+)\)$", printed, re.MULTILINE))
    table = shown("tool-calls")[1:]
    assert len(table) == len(calls)
    for title, status in calls.items():
        assert any(title in row and f" {status} " in row for row in table)
    [terminal_id] = re.findall(r"\[terminal\] (\S+)", printed)
    [terminal] = shown("terminals")[1:]
    assert terminal.startswith(terminal_id)
    assert "exited 3" in terminal
    transcript = "\n".join(shown("transcript"))
    for text in (
        "Let me look … 日本語 🚀",
        "Done ✓",
        "déjà vu ✓",
        "I will read the notes, naïvely.",
    ):
        assert text in printed
        assert text in transcript
    for title in calls:
        assert f"Tool call  {title}  [" in transcript


def test_acpx_got_and_sent_each_message_in_the_order_of_the_log(
    notes_agent: list[str], tmp_path: Path
) -> None:
    log = Log(tmp_path / "log.db")
    (tmp_path / "notes.txt").write_text(NOTES)
    proxied = [ACP_PROXY, "run", "--log", str(log.path), "--", *notes_agent]

    done = by_acpx(tmp_path, proxied, "tidy up", "json")

    assert (done.status, done.stderr) == (0, b"")
    exported = log.ask("export", "latest", "--jsonl", "--raw").stdout.splitlines()[1:]
    frames = [json.loads(line) for line in exported]
    sent = [json.loads(frame["data"]) for frame in frames if frame["from"] != "stderr"]
    assert [json.loads(line) for line in done.stdout.splitlines()] == sent
    assert len(sent) == len([row for row in log.messages() if row["from"] != "stderr"])


def test_fast_agent_asks_and_runs_a_command_for_acpx(tmp_path: Path) -> None:
    fast = found("fast-agent", "fast-agent-mcp", below="py/fast/bin")
    agent = [fast, "serve", "-x", "--transport", "acp", "--model", "passthrough"]
    prompt = '***CALL_TOOL execute {"command": "echo déjà vu; exit 3"}'

    both = twice(tmp_path, lambda command: by_acpx(tmp_path, command, prompt), agent)

    assert (both.proxied.status, both.proxied.stdout) == (both.direct.status, both.direct.stdout)
    assert both.direct.status == 0
    assert b"[tool] execute (failed)" in both.direct.stdout
    told = Told(both.log)
    [asked, call] = told.calls
    # fast-agent asks for a call that it calls "pending", and then makes it under another id
    assert (asked["toolCallId"], asked["status"]) == ("pending", "pending")
    assert (call["title"], call["status"]) == ("execute", "failed")
    assert (told.permission["status"], told.permission["optionId"]) == ("selected", "allow_once")
    assert told.terminal["exitStatus"]["exitCode"] == 3
    assert told.output == "déjà vu\n"
    assert told.texts("agent")[-1].strip() in both.proxied.stdout.decode()
    both.log.assert_clean()


# The examples of the Python SDK


@pytest.fixture(scope="session")
def examples(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return sdk_examples(tmp_path_factory.mktemp("sdk"))


def by_example(examples: Path, folder: Path, prompt: str) -> Callable[[list[str]], Ended]:
    """The SDK's example client, which reads prompts until its input ends."""
    client = [sys.executable, str(examples / "client.py")]
    line = f"{prompt}\n".encode()
    return lambda agent: run([*client, *agent], cwd=folder, stdin=line)


def printed(ended: Ended) -> list[str]:
    """The lines that the example client printed; its prompt may stand anywhere between them."""
    return ended.stdout.decode().replace("> ", "").splitlines()


@pytest.mark.slow
def test_the_example_client_refuses_a_permission(
    notes_agent: list[str], examples: Path, tmp_path: Path
) -> None:
    both = twice(tmp_path, by_example(examples, tmp_path, "ask"), notes_agent)

    assert (both.direct.status, both.proxied.status) == (0, 0)
    assert printed(both.proxied) == printed(both.direct) == ["| Agent: Asked ✓"]
    assert both.proxied.stderr == both.direct.stderr
    told = Told(both.log)
    [call] = told.calls
    assert (call["title"], call["status"]) == ("Edit notes.txt", "failed")
    assert told.permission["status"] == "error"
    [refused] = [row for row in both.log.messages() if row["kind"] == "error"]
    assert (refused["from"], refused["errorCode"]) == ("client", METHOD_NOT_FOUND)
    assert refused["requestSeq"] == told.permission["seq"]
    assert told.texts("agent") == ["Asked ✓"]
    assert both.log.connection()["client"]["name"] == "example-client"
    both.log.assert_clean()


@pytest.mark.slow
def test_the_example_agent_talks_to_the_example_client(examples: Path, tmp_path: Path) -> None:
    agent = [sys.executable, str(examples / "agent.py")]

    both = twice(tmp_path, by_example(examples, tmp_path, "Grüße ✓"), agent)

    assert (both.direct.status, both.proxied.status) == (0, 0)
    assert printed(both.proxied) == printed(both.direct)
    assert sorted(both.proxied.stderr.splitlines()) == sorted(both.direct.stderr.splitlines())
    told = Told(both.log)
    assert told.texts("user") == ["Grüße ✓"]
    chunks = [line.removeprefix("| Agent: ") for line in printed(both.proxied)]
    assert told.texts("agent") == ["".join(chunks)]
    assert chunks == ["Client sent:", "Grüße ✓"]
    assert both.log.connection()["agent"]["name"] == "example-agent"
    both.log.assert_clean()


# toad, at a terminal

MARKS = {"✔": "completed", "⌛": "pending"}


def test_the_log_tells_what_toad_shows(notes_agent: list[str], tmp_path: Path) -> None:
    toad = found("toad", "batrachian-toad", below="py/toad/bin")
    log, work = Log(tmp_path / "log.db"), tmp_path / "work"
    work.mkdir()
    (work / "notes.txt").write_text(NOTES)
    agent = " ".join([ACP_PROXY, "run", "--log", str(log.path), "--", *notes_agent])

    with AtTerminal([toad, "acp", agent, str(work)], cwd=work, HOME=str(tmp_path)) as terminal:
        terminal.wait_for(lambda screen: "How can I help" in screen, "a place to write")
        terminal.press("tidy up")
        terminal.wait_for(lambda screen: "tidy up" in screen, "what was typed")
        # until its agent has made a session, toad does not take what is typed
        asked = re.compile("Allow once|Done ✓")  # the last Enter may have been an answer
        terminal.wait_for(lambda screen: bool(asked.search(screen)), "the question", keys="\r")
        terminal.press("a")
        screen = terminal.wait_for(lambda screen: "Done ✓" in screen, "the end of the turn")
        terminal.press("\x11")  # ctrl+q
        status = terminal.wait_end()

    assert status == 0
    shown = re.findall(r"🔧\s*(.+?) ([✔⌛])", screen)
    told = Told(log)
    assert {title: MARKS[mark] for title, mark in shown} == {
        call["title"]: call["status"] for call in told.calls
    }
    assert len(shown) == 4
    assert (told.permission["status"], told.permission["optionId"]) == ("selected", "allow")
    assert (work / "notes.txt").read_text() == NOTES.upper()
    assert told.output == "déjà vu ✓\n"
    assert told.output.strip() in screen
    assert told.texts("user") == ["tidy up"]
    assert all(text.strip() in screen for text in told.texts("agent") + told.texts("thought"))
    plan = told.entries("plan")[-1]["plan"]["entries"]
    assert all(f"✔ {step['content']}" in screen for step in plan)
    assert {step["status"] for step in plan} == {"completed"}
    assert log.connection()["client"]["name"] == "toad"
    log.assert_clean()
