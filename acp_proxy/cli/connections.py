"""``acp-proxy connections``: what was recorded, newest first."""

import click

from acp_proxy.cli.options import (
    echo_table,
    json_option,
    jsonl_option,
    log_option,
    only_one,
    opened_if_there,
    write_json,
    write_jsonl,
)
from acp_proxy.views.jsonlines import connection_object


@click.command()
@log_option
@json_option
@jsonl_option
def connections(log: str | None, as_json: bool, as_jsonl: bool) -> None:
    """List the connections (runs of the proxy, and imports), newest first."""
    only_one({"--json": as_json, "--jsonl": as_jsonl})
    with opened_if_there(log) as recording:
        rows = [] if recording is None else recording.connections()
        if as_json:
            write_json(map(connection_object, rows))
        elif as_jsonl:
            write_jsonl(map(connection_object, rows))
        elif recording is not None:
            from acp_proxy.views.tables import connections_table

            echo_table(connections_table(rows))
