"""An agent that does not end at end of input, only when told to by SIGTERM; code 6."""

import os
import signal
import sys
from types import FrameType


def told(_number: int, _frame: FrameType | None) -> None:
    os.write(1, b"told to go\n")
    sys.exit(6)


def main() -> None:
    signal.signal(signal.SIGTERM, told)
    while os.read(0, 65536):
        pass
    os.write(1, b"still here\n")
    while True:
        signal.pause()


if __name__ == "__main__":
    main()
