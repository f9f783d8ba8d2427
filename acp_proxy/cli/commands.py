"""The list of commands, each imported when it is used."""

from importlib import import_module

import click

from acp_proxy import __version__

# name: (module, function, is it a group); the order of the help.
_COMMANDS = {
    "run": "acp_proxy.cli.run_command:run",
    "connections": "acp_proxy.cli.connections:connections",
    "messages": "acp_proxy.cli.messages:messages",
    "show": "acp_proxy.cli.show:show",
    "state": "acp_proxy.cli.state:state",
    "export": "acp_proxy.cli.export:export",
    "import": "acp_proxy.cli.import_file:import_file",
    "verify": "acp_proxy.cli.verify:verify",
    "log": "acp_proxy.cli.log:log",
    "demo": "acp_proxy.cli.demo:demo",
}


class _LateGroup(click.Group):
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


@click.group(cls=_LateGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="acp-proxy")
def acp_proxy() -> None:
    """Record what an ACP client and agent say to each other, and look at it.

    \b
      client  <==>  acp-proxy run -- AGENT  <==>  agent
                          |
                        journal  ->  log (SQLite)  ->  connections, messages, state ...
    """  # noqa: D301 - click wants a real backspace
