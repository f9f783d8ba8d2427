"""The list of commands, each imported when it is used."""

import contextlib
import io
import os
import sys
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

import click

from acp_proxy import __version__
from acp_proxy.cli.mistyped import Root
from acp_proxy.errors import AcpProxyError
from acp_proxy.settings import SettingsError, load
from acp_proxy.views.safe_text import visible

if TYPE_CHECKING:
    from typing import NoReturn

# name: (module, function, is it a group); the order of the help.
_COMMANDS = {
    "run": "acp_proxy.cli.run_command:run",
    "connections": "acp_proxy.cli.connections:connections",
    "messages": "acp_proxy.cli.messages:messages",
    "tail": "acp_proxy.cli.tail:tail",
    "show": "acp_proxy.cli.show:show",
    "state": "acp_proxy.cli.state:state",
    "sessions": "acp_proxy.cli.sessions:sessions",
    "tool-calls": "acp_proxy.cli.tool_calls:tool_calls",
    "tool-call": "acp_proxy.cli.tool_call:tool_call",
    "permissions": "acp_proxy.cli.permissions:permissions",
    "terminals": "acp_proxy.cli.terminals:terminals",
    "terminal": "acp_proxy.cli.terminal:terminal",
    "pending": "acp_proxy.cli.pending:pending",
    "stats": "acp_proxy.cli.stats:stats",
    "timeline": "acp_proxy.cli.timeline:timeline",
    "diff": "acp_proxy.cli.diff:diff",
    "transcript": "acp_proxy.cli.transcript:transcript",
    "search": "acp_proxy.cli.search:search",
    "export": "acp_proxy.cli.export:export",
    "import": "acp_proxy.cli.import_file:import_file",
    "verify": "acp_proxy.cli.verify:verify",
    "prune": "acp_proxy.cli.prune:prune",
    "compact": "acp_proxy.cli.compact:compact",
    "log": "acp_proxy.cli.log:log",
    "config": "acp_proxy.cli.config:config",
    "agents": "acp_proxy.cli.agents:agents",
    "doctor": "acp_proxy.cli.doctor:doctor",
    "demo": "acp_proxy.cli.demo:demo",
    "completion": "acp_proxy.cli.completion.command:completion",
}
WITHOUT_SETTINGS = ("run", "config", "doctor", "completion")
"""These work also when the configuration cannot be read: two record or mend, two do not need it."""

COMPLETION = "_ACP_PROXY_COMPLETE"
"""The variable in which a shell's script asks for completion; click's name for it."""


class _LateGroup(Root):
    """A group whose commands are imported when they are asked for."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names in the order of the help."""
        return list(_COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Return a command, None when there is none of that name."""
        place = _COMMANDS.get(cmd_name)
        if place is None:
            return None
        module, _, name = place.partition(":")
        command: click.Command = getattr(import_module(module), name)
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Return the command that the arguments name, with the defaults that the settings give it."""
        name, command, rest = super().resolve_command(ctx, args)
        for_nothing = ctx.resilient_parsing or not {"-h", "--help"}.isdisjoint(rest)
        if name and command is not None and name not in WITHOUT_SETTINGS and not for_nothing:
            ctx.default_map = {name: _defaults(ctx, name, command, rest)}
        return name, command, rest


def _defaults(
    ctx: click.Context, name: str, command: click.Command, arguments: list[str]
) -> dict[str, object]:
    """Return the defaults of a command's options, and say on a terminal that there are some."""
    try:
        settings = load()
        if name not in settings.defaults:
            return {}
        from acp_proxy.cli.defaults import option_defaults, spelled

        found = option_defaults(settings, name, command, ctx)
        if sys.stderr.isatty() and (words := spelled(settings, name, command, arguments)):
            click.echo(visible(f"acp-proxy: {' '.join(words)} ({settings.path})"), err=True)
    except SettingsError as error:
        from acp_proxy.cli.failures import Failure

        raise Failure(str(error)) from error
    return found


@click.group(cls=_LateGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="acp-proxy")
def acp_proxy() -> None:
    """Record what an ACP client and agent say to each other, and look at it.

    \b
      client  <==>  acp-proxy run -- AGENT  <==>  agent
                          |
                        journal  ->  log (SQLite)  ->  connections, messages, state ...
    """  # noqa: D301 - click wants a real backspace


def run_command_line() -> None:
    """Run the command that the process's arguments name, whatever its output is."""
    for name, stream in (("stdout", sys.stdout), ("stderr", sys.stderr)):
        if stream is None:  # closed by whoever started us
            setattr(sys, name, Path(os.devnull).open("w", encoding="utf-8"))  # noqa: SIM115
        elif isinstance(stream, io.TextIOWrapper):  # a narrow encoding must not end in a traceback
            stream.reconfigure(errors="backslashreplace")
    if instruction := os.environ.get(COMPLETION):
        _complete(instruction)
    try:
        acp_proxy(prog_name="acp-proxy")
    except Exception as error:  # noqa: BLE001 - nothing that a file or peer holds gives a traceback
        _stop(error)


def _complete(instruction: str) -> "NoReturn":
    """Answer a shell that asks what fits; say nothing where that fails: somebody is typing."""
    try:
        from acp_proxy.cli.completion.shells import answer

        code = answer(acp_proxy, instruction)
    except Exception:  # noqa: BLE001 - see above
        code = 1
    sys.exit(code)


def _stop(error: Exception) -> "NoReturn":
    """Say what went wrong, and end without Python's flush, which could only complain again."""
    from acp_proxy.cli import crash

    if isinstance(error, AcpProxyError):
        text = f"acp-proxy: {visible(str(error))}\n"
    elif isinstance(error, OSError) and error.filename is None:  # a full disk, for one
        text = f"acp-proxy: cannot write the output: {visible(str(error.strerror))}\n"
    else:
        text = crash.report(error, crash.command_of(sys.argv[1:], list(_COMMANDS)))
    with contextlib.suppress(OSError, ValueError):
        sys.stdout.flush()  # what was printed before comes first
    with contextlib.suppress(OSError, ValueError):
        sys.stderr.write(text)
        sys.stderr.flush()
    os._exit(crash.FAILED)
