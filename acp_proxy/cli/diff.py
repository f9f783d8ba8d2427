"""``acp-proxy diff``: what changed between two points of a connection."""

import sys

import click

from acp_proxy.cli.completion import candidates
from acp_proxy.cli.options import connection_argument, json_option, log_option, opened


@click.command()
@connection_argument
@log_option
@click.option(
    "--at",
    "points",
    shell_complete=candidates.seqs,
    metavar="POINT",
    multiple=True,
    required=True,
    help="Give it twice: from just after this point, to just after that one. As with state.",
)
@click.option(
    "--session", metavar="ID", shell_complete=candidates.sessions, help="Only this session."
)
@json_option
def diff(
    connection: str, log: str | None, points: tuple[str, ...], session: str | None, as_json: bool
) -> None:
    """Show what changed in the state of CONNECTION between two points.

    + marks an addition, - a removal, ~ a change. Values are compared as they were
    written: false is not 0, 1 is not 1.0. Exits with 1 when something changed, as
    diff(1) does, and with 0 when nothing did.
    """
    from acp_proxy.views.changes import change_object, change_text, changes
    from acp_proxy.views.state_json import as_it_is, state_document, state_text

    if len(points) != 2:  # noqa: PLR2004 - from and to
        raise click.UsageError("give --at twice: acp-proxy diff latest --at 10 --at 20")
    with opened(log) as recording:
        row = recording.connection(connection)
        seqs = [recording.resolve(row.id, at) for at in points]
        wanted = None if session is None else {session}
        if session is None and (tables := recording.tables(row.id)) is not None:
            wanted = tables.sessions_between(min(seqs), max(seqs))
        documents = [
            state_document(
                recording.state(row.id, at=seq, sessions=wanted), row.id, values=as_it_is
            )
            for seq in seqs
        ]
    for document in documents:
        del document["at"]
    found = changes(*documents)
    if as_json:
        told = {"connection": row.id, "from": seqs[0], "to": seqs[1]}
        click.echo(state_text({**told, "changes": [change_object(change) for change in found]}))
    else:
        for change in found:
            click.echo(change_text(change))
    if found:
        sys.exit(1)
