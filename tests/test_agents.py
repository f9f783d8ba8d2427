"""Agents by a short name: the person's own first, then what is installed, then what can be fetched."""

from collections.abc import Callable
from pathlib import Path

import pytest

from acp_proxy.agents import KNOWN, choose, find
from acp_proxy.errors import AgentError
from tests.test_house import loaded_by

Install = Callable[..., None]


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Install:
    """Put programs into an otherwise empty PATH; they fail if anybody runs them."""
    monkeypatch.setenv("PATH", str(tmp_path))

    def put(*names: str) -> None:
        for name in names:
            (tmp_path / name).write_text("#!/bin/sh\ntouch $0.was-run\n")
            (tmp_path / name).chmod(0o755)

    return put


def test_the_installed_program_comes_before_the_older_one_and_the_package(
    install: Install, tmp_path: Path
) -> None:
    install("npx")
    assert find("claude") == ["npx", "-y", "@agentclientprotocol/claude-agent-acp"]
    install("claude-code-acp")
    assert find("claude") == ["claude-code-acp"]
    install("claude-agent-acp")
    assert find("claude") == ["claude-agent-acp"]
    assert not list(tmp_path.glob("*.was-run"))


def test_arguments_belong_to_the_command_and_its_package(install: Install) -> None:
    install("npx", "uvx")
    assert find("gemini") == ["npx", "-y", "@google/gemini-cli", "--acp"]
    assert find("vibe") == ["uvx", "--from", "mistral-vibe", "vibe-acp"]
    install("gemini", "goose")
    assert find("gemini") == ["gemini", "--acp"]
    assert find("goose") == ["goose", "acp"]


def test_a_persons_own_agent_goes_first_as_it_is(install: Install) -> None:
    install("claude-agent-acp")
    own = {"claude": ["mine", "--x"], "new": ("other",)}

    assert find("claude", own) == ["mine", "--x"]
    assert find("new", own) == ["other"]
    assert find("codexx", own) is None


@pytest.mark.parametrize("name", ["", "Claude", "goose acp", "/usr/bin/goose", "nothing"])
def test_an_unknown_name_is_none(name: str, install: Install) -> None:
    install("npx")
    assert find(name) is None


def test_a_known_agent_that_is_not_there_says_how_to_get_it(install: Install) -> None:
    with pytest.raises(AgentError) as of_npm:
        find("claude")
    with pytest.raises(AgentError) as of_program:
        find("goose")

    assert str(of_npm.value) == (
        "claude (Claude Code) is not installed: there is no claude-agent-acp or claude-code-acp in PATH, "
        "and no npx to fetch it with; install it: npm install -g @agentclientprotocol/claude-agent-acp"
    )
    assert str(of_program.value) == (
        "goose (goose) is not installed: there is no goose in PATH; see https://github.com/block/goose"
    )
    assert of_npm.value.exit_code == 127


def test_a_choice_says_where_it_was_found(install: Install, tmp_path: Path) -> None:
    install("npx", "goose")

    found = {name: choice.found for name in KNOWN if (choice := choose(name)) is not None}

    assert found["goose"] == str(tmp_path / "goose")
    assert found["claude"] == "npx"
    assert found["vibe"] is None
    assert choose("mine", {"mine": ["goose"]}) == (["goose"], str(tmp_path / "goose"))
    assert choose("mine", {"mine": []}) == ([], None)


@pytest.mark.parametrize("name", KNOWN)
def test_every_known_agent_is_complete(name: str, install: Install) -> None:
    agent = KNOWN[name]

    assert agent.title
    assert agent.install
    assert all(command and all(command) for command in agent.commands)
    for command in agent.commands:
        install(command[0])
        assert find(name) in [list(candidate) for candidate in agent.commands]
    assert agent.unpacked == () or agent.unpacked[0] in ("npx", "uvx")


def test_the_table_is_cheap_to_read() -> None:
    loaded = loaded_by("import acp_proxy.agents")

    assert loaded.isdisjoint({"click", "trio", "json", "orjson", "platformdirs", "subprocess"})
