"""What editors are told, read by their own languages and started: the agent gets its words, the log the rest."""

import json
import os
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from acp_proxy.editors.known import EDITORS
from acp_proxy.recording import open_recording
from tests.cli.commands import invoke
from tests.editors.readers import string_argv

ARGUMENTS = ["acp", "", "a b", 'say "x"', "c:\\new", "$HOME", "`id`", "é 🎉", "--", "*", "it is\n"]
AGENT = "import json, sys\nprint(json.dumps(sys.argv[1:]))\n"
# Each prints the words that it would start, one a line, as JSON strings.
LUA = """
local function show(words)
  for _, word in ipairs(words) do io.write(word, "\\0") end
end
local shown = {
  codecompanion = { setup = function(t)
    for _, adapter in pairs(t.adapters.acp) do show(adapter().commands.default) end
  end },
  ["codecompanion.adapters"] = { extend = function(_, t) return t end },
  avante = { setup = function(t)
    local provider = t.acp_providers[t.provider]
    show({ provider.command }) show(provider.args)
  end },
}
function require(name) return shown[name] end
"""
EMACS = (
    '(progn (set-language-environment "UTF-8") (eval (read (buffer-string)))'
    ' (princ (mapconcat (lambda (word) (concat word "\\0")) agent-shell-goose-acp-command "")))'
)


def read_by(*command: str, stdin: str) -> list[str]:
    """Return the words that an interpreter prints, each with a NUL."""
    if shutil.which(command[0]) is None:
        pytest.skip(f"{command[0]} is not installed")
    done = subprocess.run(
        command, input=stdin.encode(), capture_output=True, check=True, timeout=120
    )
    return done.stdout.decode().split("\0")[:-1]


def by_lua(snippet: str) -> list[str]:
    interpreter = next((name for name in ("luajit", "lua5.1", "lua") if shutil.which(name)), "lua")
    return read_by(interpreter, "-", stdin=LUA + snippet)


def by_emacs(snippet: str) -> list[str]:
    script = f'(with-temp-buffer (insert-file-contents "/dev/stdin") {EMACS})'
    utf_8 = "(setq coding-system-for-read 'utf-8-unix)"
    return read_by("emacs", "-Q", "--batch", "--eval", utf_8, "--eval", script, stdin=snippet)


def by_shells(snippet: str) -> list[str]:
    """Read Toad's line as your shell does, and what is in it as Toad's does."""
    toad = 'toad() { for word; do :; done; eval "show $word"; }\n'  # the last word is the command
    return read_by("sh", stdin=f"show() {{ printf '%s\\0' \"$@\"; }}\n{toad}{snippet}\n")


def by_json(snippet: str) -> list[str]:
    [agents] = json.loads(snippet).values()
    [entry] = agents.values()
    words: list[str] = entry.get("argv") or [entry["command"], *entry["args"]]
    return words


def by_the_bridge(snippet: str) -> list[str]:
    return string_argv(shlex.split(snippet)[2])


READERS = {"lua": by_lua, "elisp": by_emacs, "json": by_json}


@pytest.mark.parametrize("name", EDITORS)
def test_what_is_told_starts_the_agent_with_its_words(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    agent = tmp_path / "goose"
    agent.write_text(f"#!{sys.executable}\n{AGENT}")
    agent.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    page = invoke("config", name, "--", "goose", *ARGUMENTS).stdout
    snippet = page.partition("\n\n")[2].partition("\n\nTo have it")[0].partition("\n\n- ")[0]
    reader = {"toad": by_shells, "marimo": by_the_bridge}.get(name)
    words = (reader or READERS[EDITORS[name].language])(snippet)

    log = tmp_path / "log.db"
    done = subprocess.run(
        words, env={"ACP_PROXY_LOG": str(log)}, cwd="/", capture_output=True, stdin=subprocess.DEVNULL,
        check=True, timeout=60,
    )  # fmt: skip

    assert json.loads(done.stdout) == ARGUMENTS
    assert done.stderr == b""
    invoke("verify", "--log", log)
    with open_recording(log) as recording:
        assert recording.connection().command == [str(agent), *ARGUMENTS]
