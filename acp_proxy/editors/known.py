"""The editors: what each is to be told, where, and what a person should know about it. Pure.

Shapes and habits are those of their documents and releases of November 2026.
"""

import re
from typing import TYPE_CHECKING, NamedTuple

from acp_proxy.editors import quoting
from acp_proxy.editors.entries import Shape
from acp_proxy.views.safe_text import visible_lines

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

PLACEHOLDER = ("claude-agent-acp",)
"""The agent of snippets for which nobody named one."""

_FETCHERS = ("npx", "uvx", "bunx", "pnpx")
_NO_NAMES = ("cli", "acp", "agent")


class Launch(NamedTuple):
    """What an editor is to start.

    Attributes:
        proxy: The words that start acp-proxy.
        agent: The agent's own words.
        name: What the editor is to call it.

    """

    proxy: "Sequence[str]"
    agent: "Sequence[str]"
    name: str

    @property
    def words(self) -> list[str]:
        """All words, up to the agent's last argument."""
        return [*self.proxy, "run", "--", *self.agent]


class Editor(NamedTuple):
    """An editor, or another client, and how it is told to start an agent.

    Attributes:
        title: What people call it.
        language: Of the snippet, as Markdown names it.
        snippet: Writes what it is to be told. Raises ValueError for words that it cannot be told.
        notes: What else to know.
        undo: How to undo it.
        name_of: What an agent is called there, given its short name.
        shape: How its settings file is changed; None when we do not.
        why_not: Why we do not.

    """

    title: str
    language: str
    snippet: "Callable[[Launch], str]"
    notes: tuple[str, ...]
    undo: str
    name_of: "Callable[[str], str]" = "{} (acp-proxy)".format
    shape: Shape | None = None
    why_not: str = ""


def short_name(agent: "Sequence[str]") -> str:
    """Return what to call an agent, from its command.

    >>> short_name(["/usr/bin/goose", "acp"])
    'goose'
    >>> short_name(["npx", "-y", "@agentclientprotocol/codex-acp@2.6.0"])
    'codex-acp'
    >>> short_name(["npx", "-y", "@kilocode/cli", "acp"])
    'kilocode'
    """
    base = agent[0].rpartition("/")[2]
    if base in _FETCHERS:
        named = [word for word in agent[1:] if not word.startswith("-")]
        package = re.sub(r"(?<=.)@.*", "", named[0]) if named else base
        scope, _, name = package.rpartition("/")
        base = scope.lstrip("@") if name in _NO_NAMES and scope else name
    return base


def _split(command: list[str]) -> dict[str, object]:
    return {"command": command[0], "args": command[1:], "env": {}}


def _zed(command: list[str]) -> dict[str, object]:
    return {"type": "custom", **_split(command)}


def _argv(command: list[str]) -> dict[str, object]:
    return {"argv": command}


ZED = Shape("agent_servers", _zed)
JETBRAINS = Shape("agent_servers", _split)
VSCODE = Shape("acp.agents", _split)
ACPX = Shape("agents", _argv, has_lines=True)


def settings_data(shape: Shape, launch: Launch) -> dict[str, object]:
    """Return the settings that name an agent, and nothing else."""
    return {shape.key: {launch.name: shape.entry(launch.words)}}


def _json_snippet(shape: Shape) -> "Callable[[Launch], str]":
    def snippet(launch: Launch) -> str:
        return quoting.json_layout(settings_data(shape, launch))

    return snippet


# CodeCompanion's own adapters, by the program that they start.
_ADAPTERS = {
    "agent": "cursor_cli",
    "auggie": "auggie_cli",
    "claude-agent-acp": "claude_code",
    "claude-code-acp": "claude_code",
    "cline": "cline_cli",
    "codex-acp": "codex",
    "copilot": "copilot_acp",
    "cursor-agent": "cursor_cli",
    "gemini": "gemini_cli",
    "gemini-cli": "gemini_cli",
    "goose": "goose",
    "kilo": "kilocode",
    "kilocode": "kilocode",
    "kimi": "kimi_cli",
    "kiro-cli": "kiro",
    "opencode": "opencode",
    "opencode-ai": "opencode",
    "vibe-acp": "mistral_vibe",
}


def _codecompanion(launch: Launch) -> str:
    adapter = quoting.lua_string(_ADAPTERS.get(short_name(launch.agent), "goose"))
    name = quoting.lua_string(launch.name)
    return f"""\
require("codecompanion").setup({{
  adapters = {{
    acp = {{
      [{name}] = function()
        return require("codecompanion.adapters").extend({adapter}, {{
          name = {name},
          formatted_name = {name},
          commands = {{
            default = {quoting.lua_list(launch.words)},
          }},
        }})
      end,
    }},
  }},
}})"""


def _avante(launch: Launch) -> str:
    name = quoting.lua_string(launch.name)
    program, *rest = launch.words
    return f"""\
require("avante").setup({{
  provider = {name},
  acp_providers = {{
    [{name}] = {{
      command = {quoting.lua_string(program)},
      args = {quoting.lua_list(rest)},
      env = {{
        HOME = os.getenv("HOME"),
        XDG_STATE_HOME = os.getenv("XDG_STATE_HOME"),
        ACP_PROXY_LOG = os.getenv("ACP_PROXY_LOG"),
      }},
    }},
  }},
}})"""


# agent-shell's variables, by the program that they hold.
_VARIABLES = {
    "agent": "cursor",
    "auggie": "auggie",
    "claude-agent-acp": "anthropic-claude",
    "claude-code-acp": "anthropic-claude",
    "codex-acp": "openai-codex",
    "copilot": "github",
    "cursor-agent": "cursor",
    "gemini": "google-gemini",
    "gemini-cli": "google-gemini",
    "goose": "goose",
    "opencode": "opencode",
    "opencode-ai": "opencode",
    "pi-acp": "pi",
    "qwen": "qwen",
    "qwen-code": "qwen",
}


def _agent_shell(launch: Launch) -> str:
    variable = _VARIABLES.get(short_name(launch.agent))
    if variable is not None:
        return (
            f"(setq agent-shell-{variable}-acp-command\n      {quoting.elisp_list(launch.words)})"
        )
    prefix = quoting.elisp_list([*launch.proxy, "run", "--"])
    return f"(setq agent-shell-command-prefix\n      {prefix})"


_SCRIPT = "put the agent's command into a script, and name that"


def _typed(words: "Sequence[str]") -> str:
    """Return a line that a person can copy into a shell."""
    line = quoting.shell_line(words)
    if visible_lines(line) != line:
        raise ValueError(f"it has characters that cannot be shown and copied; {_SCRIPT}")
    return line


def _toad(launch: Launch) -> str:
    line = quoting.shell_line(launch.words)  # for the shell that Toad starts
    return _typed(["toad", "acp", "--title", launch.name, line])


# The ports at which marimo looks for its agents.
_PORTS = {"gemini": "3019", "gemini-cli": "3019", "codex-acp": "3021"}


def _marimo(launch: Launch) -> str:
    port = _PORTS.get(short_name(launch.agent), "3017")
    try:
        line = quoting.string_argv_line(launch.words)
    except ValueError as error:
        raise ValueError(f"{error}; {_SCRIPT}") from error
    return _typed(["npx", "stdio-to-ws", line, "--port", port])


_SHORT_PATH = (
    "A program with a window has a short PATH: the paths above are absolute. If the agent itself "
    'starts others (node, for one) and they are not found, give "env" a "PATH".'
)
_LUA_IS_CODE = "its settings are a program in Lua, which only you can change safely"
_JSON_UNDO = "Remove the entry again, or: acp-proxy config {name} --unwrap"

EDITORS: dict[str, Editor] = {
    "zed": Editor(
        "Zed",
        "json",
        _json_snippet(ZED),
        (
            _SHORT_PATH,
            (
                "For a remote project Zed starts the command on the remote machine: acp-proxy must "
                "be there too, and the log is there."
            ),
            (
                "Agents that Zed installed from its registry have no command to wrap: add one of "
                "your own, with the command that the agent's documents name."
            ),
        ),
        _JSON_UNDO.format(name="zed"),
        shape=ZED,
    ),
    "jetbrains": Editor(
        "JetBrains IDEs",
        "json",
        _json_snippet(JETBRAINS),
        (
            "AI Chat, the menu at its upper right, Add Custom Agent opens the same file.",
            _SHORT_PATH,
        ),
        _JSON_UNDO.format(name="jetbrains"),
        shape=JETBRAINS,
    ),
    "codecompanion": Editor(
        "CodeCompanion (Neovim)",
        "lua",
        _codecompanion,
        (
            "With lazy.nvim put the table into opts.",
            (
                "The adapter is one more in the list; choose it by :CodeCompanionChat "
                "adapter=NAME, or in interactions.chat.adapter."
            ),
            (
                "It extends CodeCompanion's own adapter for that agent, or that for goose when there "
                "is none: another may be nearer. What you gave that one (env, keys) give to this one "
                "too, or let this one take its place with --name."
            ),
        ),
        "Remove the adapter again.",
        name_of="{}_recorded".format,
        why_not=_LUA_IS_CODE,
    ),
    "avante": Editor(
        "avante (Neovim)",
        "lua",
        _avante,
        (
            (
                "avante gives an agent nothing of your environment but PATH and what stands in env: "
                "without HOME and the others the log would be elsewhere. Add what the agent needs, "
                "keys for one."
            ),
            "With reconnect set it starts a failed agent again: each start is a connection.",
        ),
        "Remove the provider, and set provider to what it was.",
        name_of="{}-recorded".format,
        why_not=_LUA_IS_CODE,
    ),
    "agent-shell": Editor(
        "agent-shell (Emacs)",
        "elisp",
        _agent_shell,
        (
            (
                "agent-shell-command-prefix, which is for agents without a variable that is known "
                "here, wraps every agent, and the commands that agents have run too."
            ),
            "With TRAMP the command runs on the remote machine: acp-proxy must be there too.",
        ),
        "Remove the line again and restart Emacs.",
        why_not="its settings are a program in Emacs Lisp, which only you can change safely",
    ),
    "toad": Editor(
        "Toad",
        "sh",
        _toad,
        ("It is a command for your shell; Toad gives the inner one to a shell once more.",),
        "Start Toad without it: nothing was changed.",
        why_not="the agent stands on Toad's command line, not in a file",
    ),
    "acpx": Editor(
        "acpx",
        "json",
        _json_snippet(ACPX),
        (
            "Then: acpx NAME 'your prompt'. In one project only: .acpxrc.json in its folder.",
            "To acpx it is another agent: sessions begun without acp-proxy are not found with it.",
            'Releases that do not know "argv" take "command" and "args".',
        ),
        _JSON_UNDO.format(name="acpx"),
        name_of="{}-recorded".format,
        shape=ACPX,
    ),
    "vscode": Editor(
        "Visual Studio Code, extension ACP Client",
        "json",
        _json_snippet(VSCODE),
        (
            (
                "It starts agents in a login shell: what your profile prints gets into the "
                "conversation, and acp-proxy shows it."
            ),
            (
                "The extension's own agents are not in your settings: to wrap one, add it here "
                "under the name that it has there (--name)."
            ),
        ),
        _JSON_UNDO.format(name="vscode"),
        shape=VSCODE,
    ),
    "marimo": Editor(
        "marimo",
        "sh",
        _marimo,
        (
            (
                "It is the bridge that marimo's documents name; let it run, and connect in marimo's "
                "agent panel. marimo looks for Claude at port 3017, Gemini at 3019, Codex at 3021."
            ),
        ),
        "Stop the bridge, and start it without acp-proxy: nothing was changed.",
        why_not="the agent stands on the bridge's command line, not in a file",
    ),
}
