"""``acp-proxy agents``: the agents that are known by a short name, and which of them are here."""

import sys
from typing import TYPE_CHECKING, Any

import click

from acp_proxy.agents import KNOWN, choose
from acp_proxy.cli.failures import failing_plainly
from acp_proxy.cli.options import (
    echo_table,
    json_option,
    jsonl_option,
    only_one,
    write_json,
    write_jsonl,
)
from acp_proxy.settings import load

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence


@click.command()
@click.option("--all", "of_all", is_flag=True, help="Those that are not found here too.")
@json_option
@jsonl_option
def agents(of_all: bool, as_json: bool, as_jsonl: bool) -> None:
    """List the agents that can be run by a short name.

    COMMAND is what `acp-proxy run NAME` starts; FOUND where it is, or npx or uvx when
    that would fetch it. Exits with 1 when none is found.
    """
    only_one({"--json": as_json, "--jsonl": as_jsonl})
    with failing_plainly():
        own = load().agents
    list_agents(own, of_all=of_all, as_json=as_json, as_jsonl=as_jsonl)


def list_agents(
    own: "Mapping[str, Sequence[str]]", *, of_all: bool, as_json: bool, as_jsonl: bool
) -> None:
    """Print the known agents, the person's own first; exit with 1 when there is none to print."""
    shown = [agent for agent in _listed(own) if of_all or agent["found"] or agent["own"]]
    if as_json:
        write_json(shown)
    elif as_jsonl:
        write_jsonl(shown)
    elif shown:
        from acp_proxy.views.tables import command_text, table

        echo_table(
            table(
                ("NAME", "AGENT", "COMMAND", "FOUND", "TO WRAP IT"),
                (
                    (
                        agent["name"],
                        agent["title"],
                        command_text(agent["command"]),
                        agent["found"] or "-",
                        agent["wrap"],
                    )
                    for agent in shown
                ),
            )
        )
    if not shown:
        click.echo(
            "acp-proxy: no known agent is found here: install one (acp-proxy agents --all), or "
            "give its command: acp-proxy run -- COMMAND",
            err=True,
        )
        sys.exit(1)


def _listed(own: "Mapping[str, Sequence[str]]") -> "Iterator[dict[str, Any]]":
    for name in [*own, *(name for name in KNOWN if name not in own)]:
        choice = choose(name, own)
        assert choice is not None
        yield {
            "name": name,
            "title": None if name in own else KNOWN[name].title,
            "command": choice.command,
            "found": choice.found,
            "own": name in own,
            "wrap": f"acp-proxy run {name}",
            "install": None if name in own else KNOWN[name].install,
        }
