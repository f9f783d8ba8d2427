"""``acp-proxy verify``: whether the record is whole."""

import sys

import click

from acp_proxy.cli.options import failing_plainly, log_option
from acp_proxy.log.place import log_path
from acp_proxy.recorder.leftovers import settle
from acp_proxy.recording import open_recording
from acp_proxy.views.safe_text import visible


@click.command()
@click.argument("connection", required=False)
@log_option
def verify(connection: str | None, log: str | None) -> None:
    """Check CONNECTION, or all, and print what is wrong; exit with 1 if anything is.

    Checked are: that each stream's frames follow each other without a hole, that
    their bytes give the hash that was taken when they were recorded, that the index
    of messages is what the frames give, that SQLite finds the file sound, and that
    no journal waits. Gaps (bytes relayed but not recorded) are told too.
    """
    path = log_path(log)
    problems = 0
    for journal in settle(path):
        why = f"{journal.why}; {journal.remedy}"
        click.echo(f"journal {visible(journal.path)} is not in the log: {visible(why)}")
        problems += 1
    with failing_plainly(), open_recording(path) as recording:
        for text in recording.check_integrity():
            click.echo(f"log: {visible(text)}")
            problems += 1
        rows = (
            list(recording.connections())
            if connection is None
            else [recording.connection(connection)]
        )
        for row in reversed(rows):
            found = recording.verify(row.id)
            found += [
                f"{gap['bytes']} bytes from the {gap['from']} at byte {gap['offset']} were relayed "
                "but not recorded"
                for gap in row.gaps
            ]
            found += [
                f"{note['bytes']} bytes of its journal could not be read"
                for note in row.notes
                if note.get("event") == "journal damaged"
            ]
            for text in found:
                click.echo(f"connection {row.id}: {visible(text)}")
            problems += len(found)
        frames = sum(row.frames for row in rows)
    if problems:
        click.echo(f"{problems} problem{'s' if problems > 1 else ''}")
        sys.exit(1)
    click.echo(
        f"all is well: {len(rows)} connection{'s' if len(rows) != 1 else ''}, {frames} frames"
    )
