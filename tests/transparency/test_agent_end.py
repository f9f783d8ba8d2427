"""The agent's end: what its children write later is not waited for, what it wrote is delivered."""

from __future__ import annotations

import signal
from typing import TYPE_CHECKING

from tests.harness import LIMIT, agent

if TYPE_CHECKING:
    from tests.harness import Way

_WRITES_ON = """
import os, sys
os.write(1, b"ready\\n")
if os.fork():
    sys.stdin.read()
    os._exit(3)
try:
    while True:
        os.write(1, bytes(4096))
except OSError:
    os._exit(0)
"""


def test_a_child_that_writes_on_does_not_keep_us(way: Way) -> None:
    """The agent ends, its child fills the pipe for ever, the client reads on."""
    with way.start([*agent("echo")[:1], "-c", _WRITES_ON]) as process:
        process.stdout.wait_for(b"ready\n")
        process.close_stdin()
        assert process.wait(LIMIT) == 3


def test_a_signal_that_did_not_end_the_agent_cuts_nothing_off_later(way: Way) -> None:
    script = "trap : INT; echo ready; read x; head -c 150000 /dev/zero; exit 3"
    with way.start(["bash", "-c", script], read_stdout=False) as process:
        output = process.collect_stdout()
        output.wait_for(b"ready\n")
        process.signal(signal.SIGINT)
        process.send(b"go\n")
        assert process.wait(LIMIT) == 3
        assert len(output.wait_end()) == len(b"ready\n") + 150_000
