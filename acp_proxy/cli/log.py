"""``acp-proxy log``: the log's file itself."""

import os
from typing import Any

import click

from acp_proxy.cli.options import failing_plainly, json_option, log_option, opened
from acp_proxy.errors import LogError
from acp_proxy.journal.spool import damaged
from acp_proxy.log import schema
from acp_proxy.log.place import log_path
from acp_proxy.recorder.leftovers import Waiting, running, settle
from acp_proxy.recorder.rewrite import rebuild_search
from acp_proxy.recorder.rewrite import reindex as reindex_connection
from acp_proxy.recording import open_recording
from acp_proxy.views.jsonlines import dumps
from acp_proxy.views.safe_text import visible
from acp_proxy.views.tables import command_text
from acp_proxy.views.units import count, size


@click.group()
def log() -> None:
    """Where the log is, how it is, and its upkeep."""


@log.command()
@log_option
@json_option
def path(log: str | None, as_json: bool) -> None:
    """Print the log's path."""
    with failing_plainly():
        where = log_path(log)
    click.echo(dumps({"path": where}) if as_json else where)


@log.command()
@log_option
@json_option
def info(log: str | None, as_json: bool) -> None:
    """Print size, contents, schema, and which journals wait and why."""
    with failing_plainly():
        where = log_path(log)
    facts = _facts(where, settle(where))
    if as_json:
        click.echo(dumps(facts))
        return
    click.echo(f"log:          {visible(where)}")
    if facts["exists"]:
        click.echo(f"size:         {size(facts['size'])}")
        if facts["connections"] is not None:
            click.echo(
                f"holds:        {count(facts['connections'], 'connection')}, "
                f"{count(facts['frames'], 'frame')}, {count(facts['messages'], 'message')}"
            )
        click.echo(f"schema:       {', '.join(facts['steps']) or 'none'}")
    else:
        click.echo("size:         nothing recorded yet")
    if facts["problem"]:
        click.echo(f"problem:      {visible(facts['problem'])}")
    click.echo(
        f"journals:     {len(facts['waiting'])} waiting"
        if facts["waiting"]
        else "journals:     none waiting"
    )
    for path in facts["damagedJournals"]:
        click.echo(f"damaged:      {visible(path)}")
    for journal in facts["waiting"]:
        click.echo(f"  {visible(journal['journal'])}")
        command = visible(command_text(journal["command"])) or "an unknown command"
        click.echo(f"    {journal['bytes']} bytes of {command}")
        click.echo(f"    why: {visible(journal['why'])}")
        if journal["remedy"]:
            click.echo(f"    remedy: {visible(journal['remedy'])}")


def _facts(where: str, waiting: list[Waiting]) -> dict[str, Any]:
    unwritable = schema.why_not_writable(where)
    facts: dict[str, Any] = {
        "path": where,
        "exists": os.path.exists(where),
        "writable": unwritable is None,
        "size": None,
        "connections": None,
        "frames": None,
        "messages": None,
        "steps": [],
        "knownSteps": list(schema.STEPS),
        "problem": unwritable,
        "damagedJournals": damaged(where),
        "waiting": [
            {
                "uuid": journal.uuid,
                "journal": journal.path,
                "bytes": journal.bytes,
                "command": journal.command,
                "running": journal.alive,
                "why": journal.why,
                "remedy": journal.remedy,
            }
            for journal in [*waiting, *running(where)]
        ],
    }
    if facts["exists"]:
        facts["size"] = os.stat(where).st_size
        try:
            facts["steps"] = schema.applied_steps(where)
            with open_recording(where) as recording:
                facts |= recording.counts()
                facts["size"] = recording.size()
        except LogError as error:
            facts["problem"] = str(error)
    return facts


@log.command()
@log_option
@json_option
def migrate(log: str | None, as_json: bool) -> None:
    """Make the log, or bring it up to date with this acp-proxy."""
    with failing_plainly():
        where = log_path(log)
        before = schema.applied_steps(where) if os.path.exists(where) else []
        schema.open_for_writing(where).close()
        done = [step for step in schema.applied_steps(where) if step not in before]
        with open_recording(where) as recording:
            behind = recording.without_derived()
    if as_json:
        click.echo(dumps({"applied": done, "toReindex": behind}))
        return
    click.echo(f"applied: {', '.join(done)}" if done else "nothing to do: the log is up to date")
    if behind:
        click.echo(
            f"{count(behind, 'connection')} of an older acp-proxy: no texts for search, and state "
            "that is computed when asked for; mend it with: acp-proxy log reindex"
        )


@log.command()
@click.argument("connection", required=False)
@log_option
@json_option
def reindex(connection: str | None, log: str | None, as_json: bool) -> None:
    """Rebuild what is derived from the frames of CONNECTION, or of all.

    That is the index of messages, checkpoints, the state in tables, and the texts for
    search, whose index is made anew where all connections are.
    """
    with opened(log) as recording:
        rows = (
            list(recording.connections())
            if connection is None
            else [recording.connection(connection)]
        )
        busy = [row.id for row in rows if row.status == "running"]
        if connection is None:
            rebuild_search(recording.path)
        for row in rows:
            if row.id not in busy:
                reindex_connection(recording.path, row.id)
    if as_json:
        done = [row.id for row in rows if row.id not in busy]
        click.echo(dumps({"reindexed": done, "running": busy}))
        return
    click.echo(f"reindexed: {count(len(rows) - len(busy), 'connection')}")
    if busy:
        click.echo(f"left alone, still running: {', '.join(map(str, busy))}")
