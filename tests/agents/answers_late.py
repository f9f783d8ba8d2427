"""An agent that reads to the end of input before it answers, then ends with code 3."""

import os
import sys


def main() -> None:
    asked = 0
    while chunk := os.read(0, 65536):
        asked += chunk.count(b"\n")
    for number in range(asked):
        os.write(1, b'{"jsonrpc":"2.0","id":%d,"result":{}}\n' % number)
    sys.exit(3)


if __name__ == "__main__":
    main()
