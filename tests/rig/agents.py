"""The agents that the rig holds, and what each needs to run on a stand-in model on loopback.

Facts only: nothing is started here. ``{rig}``, ``{node}``, ``{home}``, ``{folder}`` and ``{port}``
are filled in by ``Agent.filled``.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path

NODE = "npm/node22/node_modules/node/bin"
ACPX = "npm/node22/node_modules/acpx/dist/cli.js"

_CODEX = """\
model = "gpt-5.5"
model_provider = "loopback"
approval_policy = "on-request"
sandbox_mode = "workspace-write"
model_reasoning_summary = "detailed"
show_raw_agent_reasoning = true
check_for_update_on_startup = false
[analytics]
enabled = false
[model_providers.loopback]
name = "Loopback stand-in"
base_url = "http://127.0.0.1:{port}/v1"
wire_api = "responses"
env_key = "STANDIN_KEY"
request_max_retries = 1
stream_max_retries = 1
"""
_OPENCODE = {
    "autoupdate": False,
    "share": "disabled",
    "model": "loopback/standin-1",
    "small_model": "loopback/standin-1",
    "permission": {"edit": "ask", "bash": "ask", "webfetch": "deny"},
    "provider": {
        "loopback": {
            "npm": "@ai-sdk/openai-compatible",
            "name": "Loopback",
            "options": {"baseURL": "http://127.0.0.1:{port}/v1", "apiKey": "dummy"},
            "models": {
                "standin-1": {
                    "name": "Stand-in",
                    "tool_call": True,
                    "reasoning": True,
                    "limit": {"context": 64000, "output": 4000},
                }
            },
        }
    },
}


@dataclass(frozen=True)
class Agent:
    """How one agent is started.

    Attributes:
        command: Its command; the first word that begins with ``{rig}`` must be there.
        model: The stand-in's script and arguments, without its port.
        environment: All that it gets beside what every agent gets.
        files: Settings to be written, by their paths below ``{home}``.
    """

    command: tuple[str, ...]
    model: tuple[str, ...]
    environment: dict[str, str] = field(default_factory=dict)
    files: dict[str, str] = field(default_factory=dict)

    def missing(self, rig: Path) -> Path | None:
        """Return what has not been installed into the rig, if anything."""
        words = [word.replace("{node}", f"{{rig}}/{NODE}/node") for word in self.command]
        needed = [Path(word.replace("{rig}", str(rig))) for word in words if "{rig}" in word]
        return next((path for path in needed if not path.exists()), None)


def filled(text: str, **places: object) -> str:
    """Return text with its places filled in; other braces stay."""
    for name, value in places.items():
        text = text.replace(f"{{{name}}}", str(value))
    return text


AGENTS = {
    "claude": Agent(
        command=(
            "{node}",
            "{rig}/npm/claude/node_modules/@agentclientprotocol/claude-agent-acp/dist/index.js",
        ),
        model=("model_anthropic.py",),
        environment={
            "ANTHROPIC_BASE_URL": "http://127.0.0.1:{port}",
            "ANTHROPIC_API_KEY": "dummy-not-a-key",
            "ANTHROPIC_MODEL": "claude-haiku-4-5",  # with the default one there are no task tools
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
            "DISABLE_TELEMETRY": "1",
            "DISABLE_ERROR_REPORTING": "1",
            "DISABLE_AUTOUPDATER": "1",
        },
    ),
    "codex": Agent(
        command=(
            "{node}",
            "{rig}/npm/codex/node_modules/@agentclientprotocol/codex-acp/dist/index.js",
        ),
        model=("model_openai.py", "--agent", "codex"),
        environment={
            "CODEX_HOME": "{home}/.codex",
            "STANDIN_KEY": "dummy",
            "MODEL_PROVIDER": "loopback",
            "NO_BROWSER": "1",
        },
        files={".codex/config.toml": _CODEX},
    ),
    "fast": Agent(
        command=(
            "{rig}/py/fast/bin/fast-agent",
            *("serve", "-x", "--transport", "acp", "--model", "generic.standin-1"),
        ),
        model=("model_openai.py", "--agent", "fast"),
        environment={
            "GENERIC_API_KEY": "dummy",
            "GENERIC_BASE_URL": "http://127.0.0.1:{port}/v1",
        },
    ),
    "opencode": Agent(
        command=("{rig}/npm/opencode/node_modules/opencode-linux-x64/bin/opencode", "acp"),
        model=("model_openai.py", "--agent", "opencode"),
        environment={
            "OPENCODE_DISABLE_MODELS_FETCH": "1",
            "OPENCODE_DISABLE_AUTOUPDATE": "1",
            "OPENCODE_DISABLE_LSP_DOWNLOAD": "1",
        },
        files={".config/opencode/opencode.json": json.dumps(_OPENCODE)},
    ),
}
