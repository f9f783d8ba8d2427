"""What each editor is told has the shape that its documents give, and every word of the agent in it."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path
from typing import Any

import pytest

from acp_proxy.editors import places
from acp_proxy.editors.known import EDITORS, Launch, short_name
from tests.editors.readers import elisp_strings, lua_strings, string_argv

PROXY = ["/opt/my tools/acp-proxy"]
AGENT = ["/usr/bin/goose", "acp", "", "a b", 'q"', "it's", "c:\\x", "$HOME", "`x`", "é\n"]
WORDS = [*PROXY, "run", "--", *AGENT]


def told(name: str, agent: list[str] = AGENT) -> str:
    """Return what an editor is told."""
    return EDITORS[name].snippet(Launch(PROXY, agent, "my agent"))


def data(name: str) -> Any:
    return json.loads(told(name))


def test_zed_gets_a_custom_agent_server() -> None:
    assert data("zed") == {
        "agent_servers": {
            "my agent": {"type": "custom", "command": WORDS[0], "args": WORDS[1:], "env": {}}
        }
    }


def test_jetbrains_gets_an_agent_server() -> None:
    assert data("jetbrains") == {
        "agent_servers": {"my agent": {"command": WORDS[0], "args": WORDS[1:], "env": {}}}
    }


def test_vscode_gets_an_agent_under_one_key_with_a_point() -> None:
    assert data("vscode") == {
        "acp.agents": {"my agent": {"command": WORDS[0], "args": WORDS[1:], "env": {}}}
    }


def test_acpx_gets_an_argv_alone() -> None:
    assert data("acpx") == {"agents": {"my agent": {"argv": WORDS}}}


@pytest.mark.parametrize(
    ("program", "adapter"),
    [
        ("claude-agent-acp", "claude_code"),
        ("codex-acp", "codex"),
        ("goose", "goose"),
        ("gemini", "gemini_cli"),
        ("never-heard-of", "goose"),
    ],
)
def test_codecompanion_gets_an_adapter_that_extends_its_own(program: str, adapter: str) -> None:
    code = " ".join(told("codecompanion", [program, *AGENT[1:]]).split("\n"))
    frame = re.compile(
        r'require\("codecompanion"\)\.setup\(\{ +adapters = \{ +acp = \{ +\["my agent"\] = function\(\) '
        r'+return require\("codecompanion\.adapters"\)\.extend\("(?P<adapter>\w+)", \{ +name = "my agent", '
        r'+formatted_name = "my agent", +commands = \{ +default = (?P<default>\{ .* \}), +\}, +\}\) +end, '
        r"+\}, +\}, +\}\)"
    )
    found = frame.fullmatch(code)

    assert found is not None
    assert found["adapter"] == adapter
    assert lua_strings(found["default"]) == [*PROXY, "run", "--", program, *AGENT[1:]]


def test_avante_gets_a_provider_with_an_environment() -> None:
    code = " ".join(told("avante").split("\n"))
    frame = re.compile(
        r'require\("avante"\)\.setup\(\{ +provider = "my agent", +acp_providers = \{ +\["my agent"\] = \{ '
        r"+command = (?P<command>.*), +args = (?P<args>\{ .* \}), +env = \{(?P<env>.*)\}, +\}, +\}, +\}\)"
    )
    found = frame.fullmatch(code)

    assert found is not None
    assert lua_strings(found["command"]) + lua_strings(found["args"]) == WORDS
    assert re.findall(r'(\w+) = os\.getenv\("\1"\)', found["env"]) == [
        "HOME",
        "XDG_STATE_HOME",
        "ACP_PROXY_LOG",
    ]


@pytest.mark.parametrize(
    ("program", "variable"),
    [
        ("claude-agent-acp", "agent-shell-anthropic-claude-acp-command"),
        ("codex-acp", "agent-shell-openai-codex-acp-command"),
        ("goose", "agent-shell-goose-acp-command"),
        ("gemini", "agent-shell-google-gemini-acp-command"),
        ("copilot", "agent-shell-github-acp-command"),
        ("opencode-ai", "agent-shell-opencode-acp-command"),
    ],
)
def test_agent_shell_gets_the_command_of_that_agent(program: str, variable: str) -> None:
    code = told("agent-shell", [program, *AGENT[1:]])
    found = re.fullmatch(r"\(setq ([\w-]+)\s+'\((.*)\)\)", code, re.DOTALL)

    assert found is not None
    assert found[1] == variable
    assert elisp_strings(found[2]) == [*PROXY, "run", "--", program, *AGENT[1:]]


def test_agent_shell_gets_a_prefix_for_agents_that_it_names_otherwise() -> None:
    code = told("agent-shell", ["never-heard-of", "acp"])
    found = re.fullmatch(r"\(setq agent-shell-command-prefix\s+'\((.*)\)\)", code)

    assert found is not None
    assert elisp_strings(found[1]) == [*PROXY, "run", "--"]


def test_toad_gets_a_line_for_the_shell_that_it_starts() -> None:
    words = shlex.split(told("toad"))

    assert words[:4] == ["toad", "acp", "--title", "my agent"]
    assert [shlex.split(word) for word in words[4:]] == [WORDS]


@pytest.mark.parametrize(
    ("agent", "port"),
    [
        (["npx", "-y", "@agentclientprotocol/claude-agent-acp"], "3017"),
        (["npx", "-y", "@agentclientprotocol/codex-acp@2.6.0"], "3021"),
        (["/usr/bin/gemini", "--acp", "a b", "it's", ""], "3019"),
    ],
)
def test_marimo_gets_the_bridge_of_its_documents(agent: list[str], port: str) -> None:
    words = shlex.split(told("marimo", agent))

    assert words[:2] == ["npx", "stdio-to-ws"]
    assert string_argv(words[2]) == [*PROXY, "run", "--", *agent]
    assert words[3:] == ["--port", port]


@pytest.mark.parametrize("name", ["toad", "marimo"])
def test_a_shell_line_that_cannot_be_copied_is_not_given(name: str) -> None:
    with pytest.raises(ValueError, match="cannot be shown and copied; put the agent's command"):
        told(name, ["agent", "\x1b[2J"])


def test_marimo_cannot_be_told_both_quotes_in_one_word() -> None:
    with pytest.raises(ValueError, match="put the agent's command into a script"):
        told("marimo", ["agent", "'\""])


@pytest.mark.parametrize("name", EDITORS)
def test_each_editor_has_a_place_and_a_way_back(name: str) -> None:
    editor = EDITORS[name]

    assert editor.undo
    assert editor.notes
    assert (editor.shape is None) == bool(editor.why_not)
    place = places.settings_of(name)
    assert place is None if editor.language == "sh" else place and place.startswith("/")


@pytest.mark.parametrize(
    ("agent", "name"),
    [
        (["goose", "acp"], "goose"),
        (["/a b/claude-agent-acp"], "claude-agent-acp"),
        (["/usr/bin/npx", "-y", "@google/gemini-cli@latest", "--acp"], "gemini-cli"),
        (["uvx", "fast-agent-acp", "-x"], "fast-agent-acp"),
        (["npx"], "npx"),
    ],
)
def test_an_agent_is_called_by_its_program(agent: list[str], name: str) -> None:
    assert short_name(agent) == name


@pytest.mark.parametrize("name", EDITORS)
def test_each_editor_is_in_the_documents(name: str) -> None:
    page = (Path(__file__).parents[2] / "docs/editors.md").read_text()

    assert f"<!-- generated: snippet {name} " in page
    assert EDITORS[name].shape is None or f"`acp-proxy config {name} --unwrap`" in page
