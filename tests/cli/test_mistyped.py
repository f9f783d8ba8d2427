"""Mistyped commands and options: what was meant is told, and nothing is run."""

import os
import subprocess
from pathlib import Path

import click
import pytest

from acp_proxy.cli import mistyped
from acp_proxy.cli.commands import acp_proxy
from tests.harness import PROXY, environment


def told(*words: str, path: str = "/nowhere") -> str:
    """Return the last line on stderr of a command that is none."""
    done = subprocess.run(
        [PROXY, *words], check=False, capture_output=True, text=True, timeout=60,
        env=environment(PATH=path, ACP_PROXY_LOG="/nowhere/log.db"),
    )  # fmt: skip
    assert (done.returncode, done.stdout) == (2, "")
    return done.stderr.splitlines()[-1]


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("conections", "No such command 'conections'. Did you mean 'connections'?"),
        ("tool-cals", "No such command 'tool-cals'. (Did you mean one of: 'tool-calls', 'tool-call'?)"),
        ("log inof", "No such command 'inof'. Did you mean 'info'?"),
        ("log zzz", "No such command 'zzz'."),
        ("record -- agent", "No such command 'record'. Did you mean 'run'?"),
        ("ls", "No such command 'ls'. Did you mean 'connections'?"),
        ("logs", "No such command 'logs'. (Did you mean one of: 'log', 'messages'?)"),
        ("rm 1", "No such command 'rm'. Did you mean 'prune'?"),
        ("claude-agent-acp", ("No such command 'claude-agent-acp'. "
            "To record an agent: acp-proxy run -- claude-agent-acp")),
        ("claude", "No such command 'claude'. To record an agent: acp-proxy run claude"),
        ("-- claude", "No such command 'claude'. To record an agent: acp-proxy run -- claude"),
        ("help", "No such command 'help'. For help: acp-proxy --help"),
        ("help tail -f", "No such command 'help'. For help: acp-proxy tail --help"),
        ("help nonsense", "No such command 'help'. For help: acp-proxy --help"),
        ("log help info", "No such command 'help'. For help: acp-proxy log info --help"),
        ("config PyCharm", "No such command 'PyCharm'. Did you mean 'jetbrains'?"),
        ("config nvim", ("No such command 'nvim'. "
            "(Did you mean one of: 'codecompanion', 'avante'?)")),
        ("config joe", ("No such command 'joe'. "
            "Any other client: put before the agent's command: acp-proxy run --")),
        ("-- state-agent --acp", ("No such command 'state-agent'. "
            "To record an agent: acp-proxy run -- state-agent --acp")),
    ],
)  # fmt: skip
def test_a_mistyped_command_is_told_what_is_near(words: str, expected: str) -> None:
    assert told(*words.split()) == f"Error: {expected}"


def test_an_agent_is_told_as_one_would_type_it() -> None:
    assert told("my agent", "it's").endswith("""acp-proxy run -- 'my agent' 'it'"'"'s'""")


def test_a_program_with_a_name_near_a_command_may_be_an_agent(tmp_path: Path) -> None:
    (tmp_path / "stat").touch(mode=0o755)

    assert "Did you mean one of: 'stats', 'state'?" in told("stat", path=str(tmp_path))
    assert told("stat", path=str(tmp_path)).endswith("acp-proxy run -- stat")
    assert "run" not in told("stat", path=os.devnull)


def test_a_mistyped_option_is_told_what_is_near() -> None:
    assert "--method" in told("messages", "--metod", "x")


def test_what_others_call_our_commands_is_no_command_of_ours_and_leads_to_one() -> None:
    names = acp_proxy.list_commands(click.Context(acp_proxy))

    for word, meant in mistyped.SYNONYMS.items():
        assert word not in names
        assert set(meant) <= set(names)
