"""The options that choose messages, for the commands that list or follow them."""

from collections.abc import Callable
from typing import TypeVar

import click

from acp_proxy.cli.completion import candidates
from acp_proxy.log.rows import KINDS, STREAMS

F = TypeVar("F", bound=Callable[..., object])

_ABOUT = (
    click.option("--from", "stream", type=click.Choice(STREAMS), help="Only what this side wrote."),
    click.option("--kind", type=click.Choice(KINDS), help="Only this kind."),
    click.option(
        "--method",
        metavar="GLOB",
        shell_complete=candidates.methods,
        help="Only this method and the answers to it.",
    ),
    click.option(
        "--session",
        metavar="ID",
        shell_complete=candidates.sessions,
        help="Only what is about this session.",
    ),
    click.option(
        "--update",
        metavar="GLOB",
        shell_complete=candidates.updates,
        help="Only this kind of session/update.",
    ),
    click.option(
        "--tool-call",
        metavar="ID",
        shell_complete=candidates.tool_calls,
        help="Only what is about this tool call.",
    ),
    click.option(
        "--terminal",
        metavar="ID",
        shell_complete=candidates.terminals,
        help="Only what is about this terminal.",
    ),
)
_WITHIN = (
    click.option("--grep", metavar="TEXT", help="Only what has this text in it."),
    click.option("--odd", is_flag=True, help="Only what is flagged or invalid."),
)


def about_options(command: F) -> F:
    """Add the options that ask what a message is about."""
    for option in reversed(_ABOUT):
        command = option(command)
    return command


def within_options(command: F) -> F:
    """Add the options that ask what is in a message."""
    for option in reversed(_WITHIN):
        command = option(command)
    return command
