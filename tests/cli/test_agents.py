"""agents: which agents can be run by a short name here."""

import json
import re
from pathlib import Path

import pytest

from acp_proxy.agents import KNOWN
from acp_proxy.cli.agents import list_agents
from tests.cli.commands import document, invoke, objects


@pytest.fixture
def path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The only folder in PATH."""
    monkeypatch.setenv("PATH", str(tmp_path))
    return tmp_path


def install(path: Path, *names: str) -> None:
    for name in names:
        (path / name).write_text("#!/bin/sh\n")
        (path / name).chmod(0o755)


def test_what_is_found_is_listed_with_what_to_type(path: Path) -> None:
    install(path, "goose", "uvx")

    rows = [re.split("  +", line) for line in invoke("agents").stdout.splitlines()]

    assert rows == [
        ["NAME", "AGENT", "COMMAND", "FOUND", "TO WRAP IT"],
        ["fast-agent", "fast-agent", "uvx fast-agent-acp -x", "uvx", "acp-proxy run fast-agent"],
        ["goose", "goose", "goose acp", f"{path}/goose", "acp-proxy run goose"],
        ["gptme", "gptme", "uvx gptme-acp", "uvx", "acp-proxy run gptme"],
        [
            "vibe",
            "Mistral Vibe",
            "uvx --from mistral-vibe vibe-acp",
            "uvx",
            "acp-proxy run vibe",
        ],
    ]


def test_json_tells_the_same(path: Path) -> None:
    install(path, "goose")
    goose = {
        "name": "goose",
        "title": "goose",
        "command": ["goose", "acp"],
        "found": str(path / "goose"),
        "own": False,
        "wrap": "acp-proxy run goose",
        "install": "see https://github.com/block/goose",
    }

    assert document("agents") == [goose]
    assert objects("agents") == [goose]


def test_all_are_listed_when_asked_for(path: Path) -> None:
    listed = objects("agents", "--all")

    assert [agent["name"] for agent in listed] == list(KNOWN)
    assert {agent["found"] for agent in listed} == {None}
    assert "claude      Claude Code" in invoke("agents", "--all").stdout


@pytest.mark.parametrize("form", [(), ("--json",), ("--jsonl",)])
def test_where_none_is_found_the_way_on_is_told(path: Path, form: tuple[str, ...]) -> None:
    result = invoke("agents", *form, code=1)

    assert result.stdout == ("[]\n" if form == ("--json",) else "")
    assert "acp-proxy agents --all" in result.stderr
    assert "acp-proxy run -- COMMAND" in result.stderr


def test_a_persons_own_come_first_found_or_not(
    path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    install(path, "goose")
    own = {"goose": ["goose", "acp", "--x"], "mine": ["nowhere"]}

    list_agents(own, of_all=False, as_json=False, as_jsonl=True)

    told = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [(agent["name"], agent["command"], agent["found"], agent["own"]) for agent in told] == [
        ("goose", ["goose", "acp", "--x"], str(path / "goose"), True),
        ("mine", ["nowhere"], None, True),
    ]


def test_two_forms_at_once_are_refused(path: Path) -> None:
    assert "exclude each other" in invoke("agents", "--json", "--jsonl", code=2).stderr
