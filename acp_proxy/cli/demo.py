"""``acp-proxy demo``: a tiny client and agent talk through the real proxy, and what was recorded is shown."""

import click

from acp_proxy.cli.failures import Failure, failing_plainly
from acp_proxy.cli.options import (
    echo_table,
    log_option,
    opened,
)
from acp_proxy.demo import DemoError, play
from acp_proxy.log.place import log_path
from acp_proxy.views.preview import preview
from acp_proxy.views.safe_text import visible
from acp_proxy.views.tables import connections_table, message_cells, messages_table

_HINTS = (
    ("show {seq}", "one message whole: here the question for permission"),
    ("messages --method 'session/*'", "only some of them"),
    ("transcript", "what was said and done, to read"),
    ("verify", "is the record whole?"),
    ("run -- YOUR-AGENT ARGS...", "put this where your client names its agent"),
)
_HINTS_OF_A_HANG = (
    ("pending", "who waits for whom, and since when"),
    ("messages --from stderr", "what the agent said beside"),
    ("state", "how far all came"),
    ("tool-call call-1 --history", "how far the tool call came"),
)


@click.command()
@log_option
@click.option("--hang", is_flag=True, help="Let the agent fall silent, to find out why.")
def demo(log: str | None, hang: bool) -> None:
    """Record a little conversation and show it.

    A client and an agent that come with acp-proxy speak ACP over the real proxy:
    one prompt, a tool call that asks for permission, an answer. Nothing leaves this
    machine. The recording goes into your log (or the one that --log names). With
    --hang no answer comes, and the client gives up after a second.
    """
    with failing_plainly():
        path = log_path(log)
    click.echo("A client starts its agent through the proxy and asks it something:\n")
    try:
        play(path, hang=hang)
    except DemoError as error:
        raise Failure(f"the demonstration failed: {error}") from error
    with opened(log) as recording:
        row = recording.connection()
        click.echo("\nThis is what was recorded (acp-proxy connections):\n")
        echo_table(connections_table([row]))
        click.echo("\nand its messages (acp-proxy messages):\n")
        cells = [
            message_cells(message, preview(message, 60)) for message in recording.messages(row.id)
        ]
        echo_table(messages_table(cells))
        permission = next(recording.messages(row.id, method="session/request_permission"), None)
    if permission is None:
        raise Failure("the demonstration was not recorded; acp-proxy log info tells why")
    _write_hints(hang, permission.seq, None if log is None else path)


def _write_hints(hang: bool, seq: int, log: str | None) -> None:
    option = "" if log is None else f" --log {visible(log)}"
    hints = []
    for command, what in _HINTS_OF_A_HANG if hang else _HINTS:
        name, _, rest = command.format(seq=seq).partition(" ")
        chosen = "" if name == "run" else option
        hints.append((f"{name}{chosen} {rest}".rstrip(), what))
    widest = max(len(command) for command, _ in hints)
    click.echo("\nTry next:\n")
    for command, what in hints:
        click.echo(f"  acp-proxy {command:{widest}}  {what}")
