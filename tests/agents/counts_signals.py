"""An agent that counts the signals it gets, tells each on its output, and ends at end of input.

``ping`` is answered by ``pong``; the last line is ``totals {"SIGTERM": 1, ...}``.
"""

import json
import os
import signal
from types import FrameType

NAMES = ["SIGTERM", "SIGINT", "SIGHUP", "SIGUSR1", "SIGUSR2", "SIGQUIT", "SIGWINCH"]
counts: dict[str, int] = {}


def note(number: int, _frame: FrameType | None) -> None:
    name = signal.Signals(number).name
    counts[name] = counts.get(name, 0) + 1
    os.write(1, f"got {name}\n".encode())


def main() -> None:
    for name in NAMES:
        signal.signal(signal.Signals[name], note)
    os.write(1, b"ready %d\n" % os.getpid())
    while chunk := os.read(0, 65536):
        os.write(1, b"pong\n" * chunk.count(b"ping"))
    os.write(1, f"totals {json.dumps(counts)}\n".encode())


if __name__ == "__main__":
    main()
