"""A tiny client and agent that talk through the real proxy: for ``demo``, and for ``doctor``'s self-test.

The two are programs of their own (``client.py``, ``agent.py``); here they are only started.
"""

import os
import subprocess
import sys

from acp_proxy.settings import CONFIG_VARIABLE, OFF_VARIABLE, VARIABLES

_LIMIT_SECONDS = 60
LABEL = "demo"


class DemoError(Exception):
    """The demonstration's client did not end well; the text says how."""


def play(log: str, *, hang: bool = False, quiet: bool = False, as_set: bool = True) -> None:
    """Hold the conversation through the proxy; return when it is over.

    The client writes what it sees to stdout.

    Args:
        log: Path of the log to record into.
        hang: Let the agent fall silent in the middle, and the client give up.
        quiet: Keep from stdout what the client sees.
        as_set: Record as the person's settings say; else as by default.

    Raises:
        DemoError: It did not go as it should.

    """
    here = os.path.dirname(os.path.abspath(__file__))
    python = [sys.executable, "-P"]
    agent = [*python, os.path.join(here, "agent.py"), *(["--hang"] if hang else [])]
    proxy = [*python, "-m", "acp_proxy", "run", "--log", log, "--label", LABEL, "--", *agent]
    output = subprocess.PIPE if quiet else None
    without = [OFF_VARIABLE, *(() if as_set else VARIABLES.values())]
    environment = {name: value for name, value in os.environ.items() if name not in without}
    if not as_set:
        environment[CONFIG_VARIABLE] = os.devnull
    try:
        done = subprocess.run(
            [*python, os.path.join(here, "client.py"), *proxy],
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            timeout=_LIMIT_SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired as error:
        raise DemoError(f"its client has not ended after {_LIMIT_SECONDS} s") from error
    if done.returncode:
        said = (done.stderr or b"").decode(errors="replace").strip()
        last = f": {said.splitlines()[-1]}" if said else ""
        raise DemoError(f"its client ended with {done.returncode}{last}")
