"""An agent that writes one block of bytes from a file, many times over, and ends.

``block_agent.py FILE TIMES``; as fast as the pipe takes it, so that what is measured is
the relay and not the agent. It reads nothing.
"""

import os
import sys
from pathlib import Path


def main() -> None:
    """Write the block as often as asked."""
    block = Path(sys.argv[1]).read_bytes()
    for _ in range(int(sys.argv[2])):
        rest = memoryview(block)
        while rest:
            rest = rest[os.write(1, rest) :]


if __name__ == "__main__":
    main()
