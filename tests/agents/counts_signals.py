"""An agent that counts the signals it gets, tells each on its output, and ends at end of input.

``ping`` is answered by ``pong``; the last line is ``totals {"SIGTERM": 1, ...}``.
"""

import json
import os
import select
import signal
from types import FrameType

NAMES = ["SIGTERM", "SIGINT", "SIGHUP", "SIGUSR1", "SIGUSR2", "SIGQUIT", "SIGWINCH"]


def catch(_number: int, _frame: FrameType | None) -> None:
    """Do nothing: the number is also written to the pipe that the main loop reads."""


def main() -> None:
    arrived, arriving = os.pipe()
    os.set_blocking(arriving, False)
    signal.set_wakeup_fd(arriving)
    for name in NAMES:
        signal.signal(signal.Signals[name], catch)
    os.write(1, b"ready %d\n" % os.getpid())
    counts: dict[str, int] = {}
    while True:
        readable, _, _ = select.select([0, arrived], [], [])
        if arrived in readable:
            for number in os.read(arrived, 65536):
                name = signal.Signals(number).name
                counts[name] = counts.get(name, 0) + 1
                os.write(1, f"got {name}\n".encode())
        elif chunk := os.read(0, 65536):
            os.write(1, b"pong\n" * chunk.count(b"ping"))
        else:
            break
    os.write(1, f"totals {json.dumps(counts)}\n".encode())


if __name__ == "__main__":
    main()
