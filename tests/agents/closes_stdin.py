"""An agent that closes its input and goes on talking until somebody opens the given FIFO; code 4.

It says ``closed`` when its input is closed, then lines without end, then ``last``.
"""

import os
import sys
import threading
from pathlib import Path


def main() -> None:
    fifo = Path(sys.argv[1])
    told = threading.Event()

    def wait_to_be_told() -> None:
        fifo.read_bytes()
        told.set()

    threading.Thread(target=wait_to_be_told, daemon=True).start()
    os.close(0)
    os.write(1, b"closed\n")
    number = 0
    while not told.wait(0.001) and number < 100_000:
        os.write(1, b'{"n":%d}\n' % number)
        number += 1
    os.write(1, b"last %d\n" % number)
    sys.exit(4)


if __name__ == "__main__":
    main()
