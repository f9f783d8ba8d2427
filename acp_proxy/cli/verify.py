"""``acp-proxy verify``: whether the record is whole."""

import os
import sys
from typing import TYPE_CHECKING

import click

from acp_proxy.cli.completion import candidates
from acp_proxy.cli.failures import failing_plainly
from acp_proxy.cli.options import json_option, log_option, reading
from acp_proxy.cli.progress import progress
from acp_proxy.journal.spool import aside, damaged
from acp_proxy.log.place import log_path
from acp_proxy.recorder.leftovers import settle
from acp_proxy.views.jsonlines import dumps
from acp_proxy.views.safe_text import visible
from acp_proxy.views.units import count

if TYPE_CHECKING:
    from acp_proxy.recording import ConnectionRow


@click.command()
@click.argument("connection", required=False, shell_complete=candidates.connections)
@log_option
@json_option
def verify(connection: str | None, log: str | None, as_json: bool) -> None:
    """Check CONNECTION, or all, and print what is wrong; exit with 1 if anything is.

    Checked are: that each stream's frames follow each other without a hole, that
    their bytes give the hash that was taken when they were recorded, that the index
    of messages is what the frames give, that SQLite finds the file sound, and that
    no journal waits. Gaps (bytes relayed but not recorded) are told too.
    """
    with failing_plainly():
        path = log_path(log)
    problems = [
        {"journal": journal.path, "problem": f"not in the log: {journal.why}; {journal.remedy}"}
        for journal in settle(path)
    ]
    with failing_plainly(), reading(path) as recording:
        with progress("checking"):
            problems += [{"log": path, "problem": text} for text in recording.check_integrity()]
        if connection is None:
            rows = sorted(recording.connections(), key=lambda row: row.id)
        else:
            rows = [recording.connection(connection)]
        with progress("verifying", sum(row.frames for row in rows), " frames") as advance:
            for row in rows:
                found = [*recording.verify(row.id, advance=advance), *_told(row)]
                problems += [{"connection": str(row.id), "problem": text} for text in found]
        problems += [{"log": path, "problem": text} for text in recording.losses]
        known = {aside(row.uuid) for row in rows}
        problems += [
            {
                "journal": name,
                "problem": "is damaged: nothing of it could be read; look at it by hand",
            }
            for name in damaged(path)
            if connection is None and os.path.basename(name) not in known
        ]
    frames = sum(row.frames for row in rows)
    altered = [(row.id, values) for row in rows if (values := _blanked(row))]
    if as_json:
        facts = {
            "connections": len(rows),
            "frames": frames,
            "redacted": [{"connection": str(id_), "values": values} for id_, values in altered],
            "problems": problems,
        }
        click.echo(dumps(facts))
    elif problems:
        for problem in problems:
            [(where, which), (_, text)] = problem.items()
            click.echo(f"{where} {visible(which)}: {visible(text)}")
        click.echo(count(len(problems), "problem"))
    else:
        click.echo(f"all is well: {count(len(rows), 'connection')}, {count(frames, 'frame')}")
    for number, values in [] if as_json else altered:
        click.echo(
            f"connection {number}: {count(values, 'value')} blanked in what was recorded: "
            "these are not the bytes that travelled"
        )
    if problems:
        sys.exit(1)


def _blanked(row: "ConnectionRow") -> int:
    """Return how many values a connection's notes tell were blanked in its frames."""
    return sum(note["values"] for note in row.notes if note.get("event") == "redacted")


def _told(row: "ConnectionRow") -> list[str]:
    """Return what the record itself tells of losses."""
    gaps = [
        f"{gap['bytes']} bytes from the {gap['from']} at byte {gap['offset']} were relayed "
        "but not recorded"
        for gap in row.gaps
    ]
    damage = [
        f"{note['bytes']} bytes of its journal could not be read"
        for note in row.notes
        if note.get("event") == "journal damaged"
    ]
    return gaps + damage
