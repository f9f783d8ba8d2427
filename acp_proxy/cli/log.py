"""``acp-proxy log``: the log's file itself."""

import os
from typing import Any

import click

from acp_proxy.cli.completion import candidates
from acp_proxy.cli.failures import failing_plainly
from acp_proxy.cli.mistyped import Group
from acp_proxy.cli.options import (
    echo_page,
    json_option,
    log_option,
    opened,
    own_log,
    reading,
    warn_of,
)
from acp_proxy.cli.progress import progress
from acp_proxy.clock import wall_clock_ns
from acp_proxy.errors import LogError
from acp_proxy.journal.spool import damaged
from acp_proxy.log import schema
from acp_proxy.log.identity import require_ours
from acp_proxy.log.place import log_path
from acp_proxy.log.space import survey
from acp_proxy.recorder.leftovers import Waiting, running, settle
from acp_proxy.recording import open_recording
from acp_proxy.views.jsonlines import dumps
from acp_proxy.views.safe_text import visible
from acp_proxy.views.space import space_document, space_parts
from acp_proxy.views.tables import command_text
from acp_proxy.views.units import count, size


@click.group(cls=Group)
def log() -> None:
    """Where the log is, how it is, and its upkeep."""


@log.command()
@log_option
@json_option
def path(log: str | None, as_json: bool) -> None:
    """Print the log's path."""
    with failing_plainly():
        where = log_path(log)
    if as_json:
        click.echo(dumps({"path": where}))
        return
    click.echo(visible(where))
    if visible(where) != where:
        click.echo(
            "acp-proxy: the path holds characters shown as escapes; --json is exact", err=True
        )


@log.command()
@log_option
@json_option
def info(log: str | None, as_json: bool) -> None:
    """Print size, growth, contents, schema, and which journals wait and why."""
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
        click.echo(f"schema:       {visible(', '.join(facts['steps'])) or 'none'}")
        if facts["space"] is not None:
            echo_page(*space_parts(facts["space"]))
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
    unwritable = schema.why_not_writable(where) or _why_not_ours(where)
    facts: dict[str, Any] = {
        "path": where,
        "exists": os.path.exists(where),
        "writable": unwritable is None,
        "foreign": None,
        "size": None,
        "connections": None,
        "frames": None,
        "messages": None,
        "space": None,
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
            with reading(where) as recording:
                facts["foreign"] = recording.notice
                facts |= recording.counts()
                for _ in recording.connections():  # what cannot be read of them is among the losses
                    pass
                facts["size"] = recording.size()
                problems = [*recording.losses, *filter(None, [facts["problem"]])]
                facts["problem"] = "; ".join(problems) or None
            facts["space"] = space_document(survey(where, now_ns=wall_clock_ns()), _ratio(where))
        except LogError as error:
            facts["problem"] = str(error)
    return facts


def _why_not_ours(where: str) -> str | None:
    """Return why nothing is recorded into a log that could be written."""
    try:
        with schema.explaining(where):
            require_ours(where)
    except LogError as error:
        return str(error)
    return None


def _ratio(where: str) -> float | None:
    """Return how large what is not compacted yet would be if it were, as a part."""
    from acp_proxy.log.compaction import sampled_ratio, standings

    packed = standings(where)
    with open_recording(where) as recording:
        rows = [row for row in recording.connections() if row.status != "running"]
    todo = [row for row in rows if row.id not in packed]
    todo.sort(key=lambda row: -sum(row.streams.values()))
    return sampled_ratio(where, [row.id for row in todo])


@log.command()
@click.argument("log", metavar="[LOG]", required=False, shell_complete=candidates.path_name)
@json_option
def trust(log: str | None, as_json: bool) -> None:
    """Say that LOG is yours, so that it is opened in place and may be written to.

    A log that was copied, moved or restored, or that came from somebody else, is read
    through a private copy and never written until then. Its journals are taken too: what
    they hold goes into it with the next command that reads it. Prints what was found.
    """
    from acp_proxy.recorder.trusting import trust as trust_log

    with failing_plainly():
        found = trust_log(log_path(log))
    if as_json:
        click.echo(dumps(found))
        return
    where = visible(str(found["path"]))
    if found["exists"]:
        click.echo(
            f"{where}: {count(found['connections'], 'connection')}, "
            f"{count(found['messages'], 'message')}, {size(found['size'])}"
        )
        click.echo("known already" if found["wasKnown"] else "trusted from now on")
    else:
        click.echo(f"{where}: no log there")
    click.echo(f"journals:     {len(found['journals'])} taken over")
    for journal in found["journals"]:
        click.echo(f"  {visible(journal)}")


@log.command()
@log_option
@click.option(
    "--incremental", is_flag=True, help="Make it a log that gives space back without a long lock."
)
@json_option
def vacuum(log: str | None, incremental: bool, as_json: bool) -> None:
    """Give the free space of the log back to the disk.

    The file is made anew: some seconds for each GB, with room for it twice beside it
    meanwhile. Recorders wait in their journals; conversations do not notice. With
    --incremental this is the last time: space is given back bit by bit from then on.
    """
    from acp_proxy.cli.prune import give_back
    from acp_proxy.log.pruning import prune
    from acp_proxy.log.upkeep import Upkeep
    from acp_proxy.views.upkeep import vacuumed_document, vacuumed_page

    with failing_plainly():
        where = own_log(log)
        warn_of(settle(where))
        open_recording(where).close()  # refuses one that is not there, rather than making it
        with Upkeep(where) as upkeep:
            with progress("merging"):
                prune(upkeep, (), "", thoroughly=True)  # completes what was interrupted
            done = give_back(upkeep, make_incremental=incremental)
        warn_of(settle(where))
    click.echo(dumps(vacuumed_document(done)) if as_json else vacuumed_page(done))


@log.command()
@log_option
@json_option
def migrate(log: str | None, as_json: bool) -> None:
    """Make the log, or bring it up to date with this acp-proxy."""
    with failing_plainly():
        where = own_log(log)
        before = schema.applied_steps(where) if os.path.exists(where) else []
        schema.open_for_writing(where).close()
        done = [step for step in schema.applied_steps(where) if step not in before]
        with open_recording(where) as recording:
            behind = recording.without_derived()
    if as_json:
        click.echo(dumps({"applied": done, "toReindex": behind}))
        return
    click.echo(
        visible(f"applied: {', '.join(done)}") if done else "nothing to do: the log is up to date"
    )
    if behind:
        click.echo(
            f"{count(behind, 'connection')} of an older acp-proxy: no texts for search, and state "
            "that is computed when asked for; mend it with: acp-proxy log reindex"
        )


@log.command()
@click.argument("connection", required=False, shell_complete=candidates.connections)
@log_option
@json_option
def reindex(connection: str | None, log: str | None, as_json: bool) -> None:
    """Rebuild what is derived from the frames of CONNECTION, or of all.

    That is the index of messages, checkpoints, the state in tables, and the texts for
    search, whose index is made anew where all connections are.
    """
    from acp_proxy.recorder.rewrite import rebuild_search
    from acp_proxy.recorder.rewrite import reindex as reindex_connection

    with failing_plainly():
        own_log(log)
    with opened(log) as recording:
        rows = (
            sorted(recording.connections(), key=lambda row: row.id)  # texts come in anew
            if connection is None
            else [recording.connection(connection)]
        )
        busy = [row.id for row in rows if row.status == "running"]
        todo = [row for row in rows if row.status != "running"]
        done = [row.id for row in todo]
        if connection is None:
            with progress("search index"):
                rebuild_search(recording.path)
        with progress("reindexing", sum(row.frames for row in todo), " frames") as advance:
            for id_ in done:
                reindex_connection(recording.path, id_, advance)
        _compact_again(recording.path, done)
    if as_json:
        click.echo(dumps({"reindexed": done, "running": busy}))
        return
    click.echo(f"reindexed: {count(len(done), 'connection')}")
    if busy:
        click.echo(f"left alone, still running: {', '.join(map(str, busy))}")


def _compact_again(path: str, ids: list[int]) -> None:
    """Compact the checkpoints that were built anew of connections that are compacted."""
    from acp_proxy.log.compaction import bytes_to_do, compact, standings
    from acp_proxy.log.upkeep import Upkeep

    packed = standings(path)
    with open_recording(
        path
    ) as recording:  # a few frames alone may be in packs since they are long
        frames = {row.id: row.frames for row in recording.connections()}
    whole = {id_ for id_, one in packed.items() if one.frames == frames.get(id_)}
    if todo := [id_ for id_ in ids if id_ in whole]:
        with Upkeep(path) as upkeep:
            total = bytes_to_do(upkeep, todo, undo=False)
            with progress("compacting", total, "B") as advance:
                for id_ in todo:
                    compact(upkeep, id_, advance)
