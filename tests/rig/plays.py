"""What is played with each agent: protocol, client, scenarios, and what is known to be odd in it.

The scenarios are those of the rig's ``scenarios.py``; ``NAME@SECONDS`` is cancelled after so long.
"""

from __future__ import annotations

from dataclasses import dataclass, field

_TAKEN_BACK = "the client answers a permission that the agent has taken back"
_BACKGROUND = "a command in the background goes on when its call is over"
_SOME = ("tool_calls", "texts", "ends")


@dataclass(frozen=True)
class Play:
    """One conversation.

    Attributes:
        agent: A name in ``AGENTS``.
        protocol: The version that the client asks for.
        scenarios: What the prompts ask the stand-in model for.
        client: ``script`` (the rig's client.py) or ``acpx``.
        options: More for client.py.
        odd: Flags that may occur, and why.
        has: What there must be at least one of, by the names of ``Account``.
        troubles: What client.py is known to complain of, and why.
    """

    agent: str
    protocol: int
    scenarios: str
    client: str = "script"
    options: tuple[str, ...] = ()
    odd: dict[str, str] = field(default_factory=dict)
    troubles: dict[str, str] = field(default_factory=dict)
    has: tuple[str, ...] = (*_SOME, "permissions")

    @property
    def name(self) -> str:
        """Return what its files are called after."""
        words = [self.agent, f"v{self.protocol}"]
        if self.client != "script":
            words += [self.client, self.scenarios.lower()]
        if "--end" in self.options:
            words += [self.options[self.options.index("--end") + 1]]
        return "-".join(words)


_CLAUDE = "READ,EDIT,SHELL,REJECT,PLAN,TASKS,PARALLEL,SUB,BG,ASK,EXITPLAN,LONG@2.5,PERMCANCEL,HELLO"
_CODEX = "READ,EDIT,SHELL,REJECT,ESC,PTY,PARALLEL,LONG@2.5,PERMCANCEL,HELLO"
_PLAIN = "READ,EDIT,SHELL,REJECT,PLAN,PARALLEL,LONG@2.5,HELLO"
_TWICE = ("--resume", "--two")
_WITH_TERMINALS = (*_SOME, "permissions", "terminals")
_WITH_PLANS = (*_WITH_TERMINALS, "plans")

PLAYS = (
    Play(
        "claude",
        1,
        _CLAUDE,
        options=("--mode", "default", *_TWICE),
        odd={"late": _TAKEN_BACK, "after-final": _BACKGROUND},
        has=_WITH_PLANS,
    ),
    Play(
        "claude",
        2,
        _CLAUDE,
        options=("--mode", "default", *_TWICE),
        odd={"late": _TAKEN_BACK},
        has=_WITH_PLANS,
    ),
    Play(
        "codex",
        1,
        _CODEX,
        options=("--mode", "read-only", *_TWICE),
        odd={"late": _TAKEN_BACK},
        has=_WITH_TERMINALS,
    ),
    Play(
        "codex",
        2,
        _CODEX,
        options=("--mode", "read-only", *_TWICE),
        odd={"late": _TAKEN_BACK},
        has=_WITH_TERMINALS,
    ),
    Play("codex", 1, "EDIT,SHELL", options=("--mode", "read-only", "--end", "sigterm-mid")),
    Play("fast", 1, _PLAIN, has=_WITH_TERMINALS),
    Play(
        "fast",
        2,
        "EDIT",
        options=("--prompt-timeout", "8"),
        odd={"other-version": "it answers version 2 and goes on in version 1"},
        troubles={"prompt EDIT not finished": "no version 2 end of the turn ever comes"},
        has=("tool_calls", "texts"),
    ),
    Play("opencode", 1, _PLAIN, options=("--resume",)),
    Play("opencode", 2, "EDIT,SHELL"),
    *(
        Play(
            agent,
            1,
            scenario,
            client="acpx",
            has=_SOME if agent == "codex" else (*_SOME, "permissions"),
        )
        for agent in ("claude", "codex", "fast", "opencode")
        for scenario in ("EDIT", "SHELL")
    ),
)
