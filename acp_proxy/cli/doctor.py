"""``acp-proxy doctor``: what is wrong, and what to do about it."""

import os
import sys
from itertools import chain
from typing import TYPE_CHECKING

import click

from acp_proxy.cli.agent_words import AgentCommand, looked_for
from acp_proxy.cli.defaults import wrong_defaults
from acp_proxy.cli.options import echo_lines, json_option, log_option, terminal_columns
from acp_proxy.doctor import OK, PROBLEM, Finding, examine
from acp_proxy.settings import load_leniently
from acp_proxy.views.jsonlines import dumps
from acp_proxy.views.safe_text import visible
from acp_proxy.views.tables import fit_lines

if TYPE_CHECKING:
    from collections.abc import Iterator


@click.command(cls=AgentCommand, context_settings={"allow_interspersed_args": False})
@log_option
@json_option
@click.option("--no-self-test", is_flag=True, help="Hold no conversation: only look.")
@click.argument("command", nargs=-1, type=click.UNPROCESSED, metavar="[[--] COMMAND [ARGS]...]")
def doctor(log: str | None, as_json: bool, no_self_test: bool, command: tuple[str, ...]) -> None:
    """Look whether all is well, and say what to do where it is not; exit with 1 then.

    Looked at are the program and its libraries, the settings, the log and who may
    read it, journals that wait, room on the disk, and the settings files of editors.
    Of COMMAND (or a short name, as with run), and of your own agents, whether an editor
    that was started from a desktop would find them. At last a small conversation is
    recorded and verified.
    """
    findings = []
    for finding in chain(examine(log, looked_for(command), plays=not no_self_test), _defaults()):
        findings.append(finding)
        if not as_json:
            _write(finding)
    problems = sum(finding.status == PROBLEM for finding in findings)
    if as_json:
        click.echo(
            dumps({"ok": problems == 0, "findings": [finding._asdict() for finding in findings]})
        )
    elif problems:
        click.echo(f"\n{problems} of {len(findings)} need something to be done")
    else:
        click.echo("\nall is well")
    if problems:
        sys.exit(1)


def _defaults() -> "Iterator[Finding]":
    """Yield what is wrong with the options' defaults in the settings: only we know the options."""
    wrong = wrong_defaults(load_leniently()[0], click.get_current_context())
    if wrong is not None:
        yield Finding("settings", PROBLEM, wrong, "correct the file")


def _write(finding: Finding) -> None:
    line = f"{finding.status:8} {finding.check + ':':13}{visible(finding.what)}"
    text = fit_lines(line, terminal_columns()).removeprefix(finding.status)
    mark = click.style(finding.status, fg=_COLOURS.get(finding.status), bold=True)
    click.echo(f"{mark}{text}", color=False if os.environ.get("NO_COLOR") else None)
    if finding.remedy and finding.status != OK:
        echo_lines(f"{'':9}{'remedy:':13}{visible(finding.remedy)}")


_COLOURS = {PROBLEM: "red", "note": "yellow", OK: "green"}
