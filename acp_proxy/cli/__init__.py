"""The command line. One module per command; the only room that prints."""

import sys


def main() -> None:
    """Run ``acp-proxy`` with the process's arguments."""
    arguments = sys.argv[1:]
    if arguments[:1] == ["run"]:
        # The client waits for the agent: plain forms of `run` go without click, which takes 25 ms.
        from acp_proxy.cli import run

        if (plain := run.read_plainly(arguments[1:])) is not None:
            run.start(*plain)
    from acp_proxy.cli.commands import acp_proxy

    acp_proxy(prog_name="acp-proxy")
