"""``acp-proxy run`` as click sees it: its help, and what is wrong with its arguments."""

import click

from acp_proxy.cli import run as run_module
from acp_proxy.cli.completion import candidates
from acp_proxy.cli.options import log_option
from acp_proxy.log.retention import wrong_keep


def _checked(_ctx: click.Context, _param: click.Parameter, value: str | None) -> str | None:
    if value is not None and (wrong := wrong_keep(value)) is not None:
        raise click.BadParameter(wrong)
    return value


@click.command(
    context_settings={"allow_interspersed_args": False}, options_metavar="[OPTIONS] [--]"
)
@log_option
@click.option(
    "--label",
    metavar="TEXT",
    shell_complete=candidates.labels,
    help="A text to find this connection by; {folder}, {agent} and others are filled in.",
)
@click.option(
    "--redact-at-rest", is_flag=True, help="Blank secrets before they are written into the log."
)
@click.option(
    "--keep",
    metavar="LIMIT",
    callback=_checked,
    help="At the end delete from the log what is older (30d), or the oldest when it is larger (2G), "
    "or both (30d,2G); default: $ACP_PROXY_KEEP, else all.",
)
@click.argument(
    "command",
    nargs=-1,
    required=True,
    type=click.UNPROCESSED,
    shell_complete=candidates.wrapped_command,
    metavar="COMMAND [ARGS]...",
)
def run(
    log: str | None,
    label: str | None,
    redact_at_rest: bool,
    keep: str | None,
    command: tuple[str, ...],
) -> None:
    """Start an agent and record its conversation with the client that started us.

    Put this before the agent's command wherever your client's settings name it:

    \b
      claude-agent-acp                  becomes
      acp-proxy run -- claude-agent-acp

    Bytes, signals and the exit status pass unchanged, and nothing of our own is
    written to stdout or stderr. Options of COMMAND go to it verbatim. A short name
    that `acp-proxy agents` lists, alone and without --, stands for that agent's
    command. With ACP_PROXY_OFF=1 in the environment the agent takes this process's
    place and nothing is recorded.
    """  # noqa: D301 - click wants a real backspace
    run_module.start(run_module.Asked(command, log, label, redact_at_rest, keep))
