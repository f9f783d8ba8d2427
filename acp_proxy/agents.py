"""Agents known by a short name, and which command would start each on this machine. Runs nothing.

`run` reads this before it starts an agent: nothing slow is imported here.
"""

import os
import shutil
from typing import TYPE_CHECKING, NamedTuple

from acp_proxy.errors import AgentError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_NOT_FOUND = 127


class KnownAgent(NamedTuple):
    """An agent that is known to speak ACP.

    Attributes:
        title: What people call it.
        commands: What starts it when it is installed, in order of preference.
        install: How it is installed, for a person.
        unpacked: What starts it from its package (npx, uvx); empty when there is no such way.

    """

    title: str
    commands: "tuple[tuple[str, ...], ...]"
    install: str
    unpacked: tuple[str, ...] = ()


class Choice(NamedTuple):
    """What would be run for a short name.

    Attributes:
        command: The program and its arguments.
        found: The program's path, or ``npx`` or ``uvx`` when that would fetch the agent;
            None when there is nothing to run.

    """

    command: list[str]
    found: str | None


def _npm(title: str, package: str, *commands: str) -> KnownAgent:
    """Return an agent from npm, whose commands all take the arguments of the first."""
    split = tuple(tuple(command.split()) for command in commands)
    return KnownAgent(
        title, split, f"npm install -g {package}", ("npx", "-y", package, *split[0][1:])
    )


def _python(title: str, package: str, *commands: str, unpacked: str) -> KnownAgent:
    split = tuple(tuple(command.split()) for command in commands)
    return KnownAgent(title, split, f"uv tool install {package}", ("uvx", *unpacked.split()))


def _program(title: str, page: str, command: str) -> KnownAgent:
    return KnownAgent(title, (tuple(command.split()),), f"see {page}")


# From the ACP registry and the agents' own documents, as of November 2026.
KNOWN: "Mapping[str, KnownAgent]" = {
    "amp": _program("Amp", "https://github.com/tao12345666333/amp-acp", "amp-acp"),
    "auggie": _npm("Auggie", "@augmentcode/auggie", "auggie --acp"),
    "claude": _npm(
        "Claude Code",
        "@agentclientprotocol/claude-agent-acp",
        "claude-agent-acp",
        "claude-code-acp",
    ),
    "cline": _npm("Cline", "cline", "cline --acp"),
    "codex": _npm("Codex", "@agentclientprotocol/codex-acp", "codex-acp"),
    "copilot": _npm("GitHub Copilot", "@github/copilot", "copilot --acp --stdio"),
    "cursor": _program("Cursor", "https://cursor.com/docs/cli/acp", "cursor-agent acp"),
    "droid": _npm("Factory Droid", "droid", "droid exec --output-format acp"),
    "fast-agent": _python(
        "fast-agent",
        "fast-agent-acp",
        "fast-agent-acp -x",
        "fast-agent serve -x --transport acp",
        unpacked="fast-agent-acp -x",
    ),
    "gemini": _npm("Gemini CLI", "@google/gemini-cli", "gemini --acp"),
    "goose": _program("goose", "https://github.com/block/goose", "goose acp"),
    "gptme": _python("gptme", "gptme-acp", "gptme-acp", unpacked="gptme-acp"),
    "grok": _npm("Grok Build", "@xai-official/grok", "grok agent stdio"),
    "junie": _program("Junie", "https://junie.jetbrains.com", "junie --acp=true"),
    "kilo": _npm("Kilo Code", "@kilocode/cli", "kilo acp"),
    "kimi": _program("Kimi CLI", "https://github.com/MoonshotAI/kimi-cli", "kimi acp"),
    "kiro": _program("Kiro CLI", "https://kiro.dev/docs/cli/acp", "kiro-cli acp"),
    "openclaw": _program("OpenClaw", "https://github.com/openclaw/openclaw", "openclaw acp"),
    "opencode": _npm("OpenCode", "opencode-ai", "opencode acp"),
    "openhands": _program(
        "OpenHands", "https://docs.openhands.dev/openhands/usage/run-openhands/acp", "openhands acp"
    ),
    "pi": _npm("Pi", "pi-acp", "pi-acp"),
    "qoder": _program("Qoder CLI", "https://docs.qoder.com/cli/acp", "qodercli --acp"),
    "qwen": _npm("Qwen Code", "@qwen-code/qwen-code", "qwen --acp"),
    "vibe": _python(
        "Mistral Vibe", "mistral-vibe", "vibe-acp", unpacked="--from mistral-vibe vibe-acp"
    ),
}


def find(name: str, own: "Mapping[str, Sequence[str]] | None" = None) -> list[str] | None:
    """Return the command for a short name; None when nobody knows that name.

    Args:
        name: As a person types it: ``claude``.
        own: The person's own agents: a name, and the command to run, which goes before ours.

    Raises:
        AgentError: The agent is known, but not installed here; the text says how to.

    """
    choice = choose(name, own)
    if choice is None:
        return None
    if choice.found is None and name not in (own or {}):
        raise AgentError(_what_to_install(name), _NOT_FOUND)
    return choice.command


def choose(name: str, own: "Mapping[str, Sequence[str]] | None" = None) -> Choice | None:
    """Return what ``find`` would run, whether it is there or not; None for an unknown name."""
    if own and name in own:
        command = list(own[name])
        return Choice(command, _path(command[0]) if command else None)
    known = KNOWN.get(name)
    if known is None:
        return None
    for candidate in known.commands:
        if (path := _path(candidate[0])) is not None:
            return Choice(list(candidate), path)
    if known.unpacked and _path(known.unpacked[0]) is not None:
        return Choice(list(known.unpacked), known.unpacked[0])
    return Choice(list(known.commands[0]), None)


def _path(program: str) -> str | None:
    """Return the absolute path of what a program's name stands for."""
    path = shutil.which(program)
    return None if path is None else os.path.abspath(path)


def _what_to_install(name: str) -> str:
    known = KNOWN[name]
    programs = " or ".join(command[0] for command in known.commands)
    text = f"{name} ({known.title}) is not installed: there is no {programs} in PATH"
    if known.unpacked:
        text += f", and no {known.unpacked[0]} to fetch it with"
    return f"{text}; {'' if known.install.startswith('see ') else 'install it: '}{known.install}"
