"""An agent that ends with code 4 while a child of its own still holds its three streams.

The child ends when somebody opens the given FIFO.
"""

import os
import sys
from pathlib import Path


def main() -> None:
    if os.fork() == 0:
        Path(sys.argv[1]).read_bytes()
        os._exit(0)
    os.write(1, b'{"parent":"done"}\n')
    os._exit(4)


if __name__ == "__main__":
    main()
