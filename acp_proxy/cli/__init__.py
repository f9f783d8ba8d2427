"""The command line. One module per command; the only room that prints."""

import _signal  # type: ignore[import-not-found] # what signal is made of; that one is slow to import
import os
import sys
from typing import TYPE_CHECKING

from acp_proxy import clock

if TYPE_CHECKING:
    from acp_proxy.cli.run import Asked


def main() -> None:
    """Run ``acp-proxy`` with the process's arguments."""
    clock.make_usable()
    arguments = sys.argv[1:]
    if (
        arguments[:1] in (["run"], ["tail"])
        and _signal.getsignal(_signal.SIGINT) is not _signal.SIG_IGN
    ):
        _signal.signal(_signal.SIGINT, _signal.SIG_DFL)  # or it ends in a traceback on stderr
    _distrust_working_folder()
    if arguments[:1] == ["run"]:
        # The client waits for the agent: plain forms of `run` go without click, which takes 25 ms.
        from acp_proxy.cli import run

        if (plain := run.read_plainly(arguments[1:])) is not None:
            _start(plain)
    from acp_proxy.cli.commands import run_command_line

    run_command_line()


def _start(plain: "Asked") -> None:
    """Run the proxy; an unexpected error gives a message instead of a traceback."""
    from acp_proxy.cli import run

    try:
        run.start(plain)
    except Exception as error:  # noqa: BLE001 - see above
        from acp_proxy.cli import crash

        sys.stderr.write(crash.report(error, "acp-proxy run"))
        sys.exit(crash.FAILED)


def _distrust_working_folder() -> None:
    """Take the working folder off the path: it is somebody's repository, nothing in it is for us.

    ``python -m`` puts it there, and an empty entry in PYTHONPATH does. It stays when
    we are what lies in it.
    """
    package_parent = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    try:
        here = os.getcwd()
    except OSError:  # somebody deleted it
        here = ""
    if here != package_parent:
        sys.path[:] = [entry for entry in sys.path if entry not in ("", here)]
