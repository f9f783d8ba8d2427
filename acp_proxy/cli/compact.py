"""``acp-proxy compact``: store connections that have ended compressed, and undo it."""

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from acp_proxy.cli.completion import candidates
from acp_proxy.cli.failures import failing_plainly
from acp_proxy.cli.options import (
    echo_page,
    json_option,
    log_option,
    own_log,
    warn_of,
)
from acp_proxy.cli.progress import progress
from acp_proxy.cli.prune import AGE, give_back
from acp_proxy.log.retention import Limits
from acp_proxy.recorder.leftovers import settle
from acp_proxy.recording import open_recording

if TYPE_CHECKING:
    from acp_proxy.cli.prune import Given
    from acp_proxy.log.retention import Choice
    from acp_proxy.views.upkeep import Compacted


@click.command()
@click.argument("connections", nargs=-1, shell_complete=candidates.connections)
@log_option
@click.option("--older-than", type=AGE, metavar="AGE", help="What was last active longer ago (7d).")
@click.option("--all", "of_all", is_flag=True, help="All that have ended.")
@click.option("--undo", is_flag=True, help="Store them as they were before.")
@click.option("--dry-run", is_flag=True, help="Only tell what it would come to.")
@click.option("--vacuum", is_flag=True, help="Give the space back too, as log vacuum does.")
@json_option
def compact(
    connections: tuple[str, ...],
    log: str | None,
    older_than: "Given | None",
    of_all: bool,
    undo: bool,
    dry_run: bool,
    vacuum: bool,
    as_json: bool,
) -> None:
    """Store CONNECTIONS, or those that are old, compressed: some tenth of their size.

    Nothing is lost and every command goes on as before, byte for byte; --undo makes it
    undone. Only in SQL the bytes of such frames cannot be read. What is running, or
    waits in a journal, is left alone.
    """
    from acp_proxy.views.jsonlines import dumps
    from acp_proxy.views.upkeep import Compacted, compacted_document, compacted_parts

    if not (connections or older_than or of_all):
        raise click.UsageError("say what: CONNECTIONS, --older-than or --all")
    with failing_plainly():
        path = own_log(log)
        warn_of(settle(path))
        choice = _chosen(path, connections, older_than, undo=undo)
        done = Compacted(choice, undo, _expected(path, choice) if dry_run and not undo else None)
        if choice.going and not dry_run:
            done = _work(path, done, vacuum=vacuum)
    if as_json:
        click.echo(dumps(compacted_document(done)))
    else:
        echo_page(*compacted_parts(done))
    if connections and choice.staying:
        sys.exit(1)


def _chosen(
    path: str, connections: Sequence[str], older_than: "Given | None", *, undo: bool
) -> "Choice":
    """Return the connections of which something is to be done."""
    from acp_proxy.log.compaction import standings
    from acp_proxy.log.pruning import chosen

    named = None
    if connections:
        with open_recording(path) as recording:
            named = {recording.connection(word).id for word in connections}
    packed = standings(path)
    _, choice = chosen(path, Limits(older_than and older_than.value), named)
    frames = {id_: one.frames for id_, one in packed.items()}
    going = [
        one
        for one in choice.going
        if (one.id in frames if undo else frames.get(one.id, 0) < one.frames)
    ]
    return choice._replace(going=going)


def _expected(path: str, choice: "Choice") -> int | None:
    """Return how many bytes of the frames would be freed, about."""
    from acp_proxy.log.compaction import sampled_ratio, standings

    packed = standings(path)
    with open_recording(path) as recording:
        relayed = {row.id: sum(row.streams.values()) for row in recording.connections()}
    plain = {
        one.id: relayed[one.id] - (packed[one.id].bytes if one.id in packed else 0)
        for one in choice.going
    }
    ratio = sampled_ratio(path, sorted(plain, key=lambda id_: -plain[id_]))
    return None if ratio is None else int(sum(plain.values()) * (1 - ratio))


def _work(path: str, done: "Compacted", *, vacuum: bool) -> "Compacted":
    from acp_proxy.log import compaction
    from acp_proxy.log.upkeep import Upkeep

    change = compaction.undo if done.undo else compaction.compact
    ids = [one.id for one in done.choice.going]
    with Upkeep(path) as upkeep:
        before = upkeep.used_bytes()
        with progress("counting"):
            total = compaction.bytes_to_do(upkeep, ids, undo=done.undo)
        with progress("undoing" if done.undo else "compacting", total, "B") as advance:
            for id_ in ids:
                change(upkeep, id_, advance)
        freed = before - upkeep.used_bytes()
        left = give_back(upkeep) if vacuum else None
    return done._replace(packed=compaction.standings(path), freed=freed, left=left)
