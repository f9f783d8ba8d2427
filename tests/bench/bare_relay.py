"""The baseline: the least a relay in Python can do, blocking threads that read and write.

No journal, no recorder, no care for signals or odd ends: whoever adds to this file
changes what every ratio of the table means.
"""

import os
import subprocess
import sys
import threading

CHUNK = 65536


def pump(source: int, target: int) -> None:
    """Copy until the source ends, then close the target."""
    while chunk := os.read(source, CHUNK):
        rest = memoryview(chunk)
        while rest:
            rest = rest[os.write(target, rest) :]
    os.close(target)


if __name__ == "__main__":
    agent = subprocess.Popen(sys.argv[1:], stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0)
    assert agent.stdin
    assert agent.stdout
    to_agent = (0, os.dup(agent.stdin.fileno()))
    agent.stdin.close()
    threading.Thread(target=pump, args=to_agent, daemon=True).start()
    pump(agent.stdout.fileno(), 1)
    os._exit(agent.wait())
