"""An agent that sends every chunk straight back, and ends at end of input with a given code."""

import os
import sys


def main() -> None:
    code = int(sys.argv[1]) if len(sys.argv) > 1 else 0
    while chunk := os.read(0, 65536):
        view = memoryview(chunk)
        while view:
            view = view[os.write(1, view) :]
    sys.exit(code)


if __name__ == "__main__":
    main()
