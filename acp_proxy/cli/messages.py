"""``acp-proxy messages``: the messages of a connection, filtered."""

import sys
from itertools import islice
from typing import TYPE_CHECKING

import click

from acp_proxy.cli.completion import candidates
from acp_proxy.cli.filters import about_options, within_options
from acp_proxy.cli.options import (
    connection_argument,
    echo_table,
    json_option,
    jsonl_option,
    log_option,
    only_one,
    opened,
    write_json,
    write_jsonl,
)
from acp_proxy.views.jsonlines import message_object
from acp_proxy.views.preview import preview

if TYPE_CHECKING:
    from collections.abc import Iterator

    from acp_proxy.recording import MessageRow

SEQ = click.IntRange(min=0, max=2**62)
_BLOCK = 1000
_RAW = 64 * 1024


@click.command()
@connection_argument
@log_option
@about_options
@click.option(
    "--since-seq",
    type=SEQ,
    metavar="SEQ",
    shell_complete=candidates.seqs,
    help="From this message on.",
)
@click.option(
    "--until-seq",
    type=SEQ,
    metavar="SEQ",
    shell_complete=candidates.seqs,
    help="Up to this message.",
)
@within_options
@click.option("--limit", type=SEQ, metavar="N", help="At most the first N.")
@json_option
@jsonl_option
def messages(
    connection: str,
    log: str | None,
    as_json: bool,
    as_jsonl: bool,
    **wanted: object,
) -> None:
    """List the messages of CONNECTION (an id, the beginning of a uuid, or latest).

    SEQ counts everything observed, from 1. WHAT is the method with the id, or the
    request that is answered; ABOUT the session (s), tool call (c) and terminal (t);
    TOOK the time from a request to its answer. Exits with 1 when nothing fits.
    """
    only_one({"--json": as_json, "--jsonl": as_jsonl})
    with opened(log) as recording:
        rows = recording.messages(connection, raw=_RAW, **wanted)  # type: ignore[arg-type]
        if as_json or as_jsonl:
            write = write_json if as_json else write_jsonl
            found = write(message_object(row, preview(row)) for row in rows)
        else:
            found = _write_tables(rows)
    if not found:
        sys.exit(1)


def _write_tables(rows: "Iterator[MessageRow]") -> bool:
    """Print the rows as tables of some hundred lines; tell whether there was any."""
    from acp_proxy.views.tables import message_cells, messages_table

    found = False
    while block := list(islice(rows, _BLOCK)):
        echo_table(messages_table([message_cells(row, preview(row)) for row in block]))
        found = True
    return found
