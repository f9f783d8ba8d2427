"""``acp-proxy demo``: a tiny client and agent talk through the real proxy, and what was recorded is shown."""

import os
import subprocess
import sys

import click

from acp_proxy.cli.options import Failure, echo_table, failing_plainly, log_option, opened
from acp_proxy.log.place import log_path
from acp_proxy.views.preview import preview
from acp_proxy.views.safe_text import visible
from acp_proxy.views.tables import connections_table, message_cells, messages_table

_LIMIT_SECONDS = 60


@click.command()
@log_option
def demo(log: str | None) -> None:
    """Record a little conversation and show it.

    A client and an agent that come with acp-proxy speak ACP over the real proxy:
    one prompt, a tool call that asks for permission, an answer. Nothing leaves this
    machine. The recording goes into your log (or the one that --log names).
    """
    with failing_plainly():
        path = log_path(log)
    here = os.path.dirname(os.path.abspath(__file__))
    python = [sys.executable, "-P"]
    agent = [*python, os.path.join(here, "agent.py")]
    proxy = [*python, "-m", "acp_proxy", "run", "--log", path, "--label", "demo", "--", *agent]
    click.echo("A client starts its agent through the proxy and asks it something:\n")
    done = subprocess.run(
        [*python, os.path.join(here, "client.py"), *proxy], timeout=_LIMIT_SECONDS, check=False
    )
    if done.returncode:
        raise click.ClickException(f"the demonstration's client ended with {done.returncode}")
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
    option = "" if log is None else f" --log {visible(path)}"
    hints = [
        (f"show{option} {permission.seq}", "one message whole: here the question for permission"),
        (f"messages{option} --method 'session/*'", "only some of them"),
        (f"export{option} --stream agent", "the agent's exact bytes"),
        (f"verify{option}", "is the record whole?"),
        ("run -- YOUR-AGENT ARGS...", "put this where your client names its agent"),
    ]
    widest = max(len(command) for command, _ in hints)
    click.echo("\nTry next:\n")
    for command, what in hints:
        click.echo(f"  acp-proxy {command:{widest}}  {what}")
