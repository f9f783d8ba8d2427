"""An agent that closes its output early and lives on until it is sent one more line; code 5."""

import os
import sys


def main() -> None:
    os.write(1, b'{"only":"line"}\n')
    os.close(1)
    os.write(2, b"output closed\n")
    line = b""
    while not line.endswith(b"\n") and (chunk := os.read(0, 65536)):
        line += chunk
    os.write(2, b"was told " + line)
    sys.exit(5)


if __name__ == "__main__":
    main()
