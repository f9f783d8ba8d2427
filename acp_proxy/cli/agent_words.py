"""Arguments that are an agent's command: whether ``--`` stands before it, and what a short name means."""

from typing import TYPE_CHECKING

import click

from acp_proxy.agents import choose, find
from acp_proxy.cli.failures import failing_plainly
from acp_proxy.settings import load, load_leniently

if TYPE_CHECKING:
    from collections.abc import Sequence

_VERBATIM = "acp_proxy.verbatim"


class AgentCommand(click.Command):
    """A command that ends in an agent's command, and knows whether ``--`` stands before that."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse the arguments."""
        ctx.meta[_VERBATIM] = "--" in args
        return super().parse_args(ctx, args)


def is_verbatim() -> bool:
    """Tell whether ``--`` stands on the command's line, so that what follows is not looked at."""
    return bool(click.get_current_context().meta[_VERBATIM])


def resolved(agent: "Sequence[str]") -> "Sequence[str]":
    """Return the command that a short name stands for, as ``run`` does; other commands as they are."""
    if len(agent) != 1 or is_verbatim():
        return agent
    with failing_plainly():
        return find(agent[0], load().agents) or agent


def looked_for(agent: "Sequence[str]") -> "Sequence[str]":
    """Return the command that a short name stands for, whether that is there or not; never fails."""
    if len(agent) != 1 or click.get_current_context().meta[_VERBATIM]:
        return agent
    choice = choose(agent[0], load_leniently()[0].agents)
    return agent if choice is None else choice.command
