"""``acp-proxy search``: where something was said, in all connections."""

import sys

import click

from acp_proxy.cli.completion import candidates
from acp_proxy.cli.options import (
    echo_table,
    json_option,
    jsonl_option,
    log_option,
    only_one,
    opened,
    session_option,
    write_json,
    write_jsonl,
)
from acp_proxy.log.search import TEXT_KINDS

_SAID_BY = {
    "client": ("prompt",),
    "agent": ("message", "thought", "tool", "terminal"),
    "stderr": ("stderr",),
}


@click.command()
@click.argument("text", nargs=-1, required=True)
@log_option
@click.option(
    "--connection",
    metavar="CONNECTION",
    shell_complete=candidates.connections,
    help="Only in this one.",
)
@session_option
@click.option("--from", "said_by", type=click.Choice(list(_SAID_BY)), help="Who wrote it.")
@click.option(
    "--kind", type=click.Choice(TEXT_KINDS), multiple=True, help="What it is; may repeat."
)
@click.option(
    "--limit", type=click.IntRange(min=1), default=20, show_default=True, help="At most so many."
)
@json_option
@jsonl_option
def search(
    text: tuple[str, ...],
    log: str | None,
    connection: str | None,
    session: str | None,
    said_by: str | None,
    kind: tuple[str, ...],
    limit: int,
    as_json: bool,
    as_jsonl: bool,
) -> None:
    """Find texts in which all words of TEXT stand, best first, in all connections.

    Prompts, messages, thoughts, titles, inputs and contents of tool calls, output of
    terminals, standard error. In double quotes (that your shell leaves there) words
    are a phrase: acp-proxy search '"rate limit"'; with * behind, a word's beginning.
    SEQ is where the text begins. Exits with 1 when nothing is found.
    """
    only_one({"--json": as_json, "--jsonl": as_jsonl})
    kinds = [one for one in kind or TEXT_KINDS if said_by is None or one in _SAID_BY[said_by]]
    if not kinds:
        raise click.UsageError(f"what is of kind {' or '.join(kind)} is never from {said_by}")
    if not kind and said_by is None:
        kinds = []  # of any kind, also of one that is damaged: that is to be told
    with opened(log) as recording:
        hits = list(
            recording.search(
                " ".join(text), connection=connection, session=session, kinds=kinds, limit=limit
            )
        )
        if behind := recording.without_derived():
            click.echo(
                f"acp-proxy: not in the index: {behind} of an older acp-proxy's connections; "
                "acp-proxy log reindex takes them in",
                err=True,
            )
    from acp_proxy.views.hits import hit_object, hits_table

    if as_json:
        write_json(map(hit_object, hits))
    elif as_jsonl:
        write_jsonl(map(hit_object, hits))
    elif hits:
        echo_table(hits_table(hits))
    if not hits:
        sys.exit(1)
