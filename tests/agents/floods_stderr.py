"""An agent that writes so many bytes of numbered lines to stderr, then echoes its input; code 2."""

import os
import sys


def flood(size: int) -> bytes:
    """Return exactly ``size`` bytes of numbered lines."""
    tail = b" trouble in paradise" * 8 + b"\n"
    lines = b"".join(b"%09d" % n + tail for n in range(size // 170 + 1))
    return lines[:size]


def main() -> None:
    view = memoryview(flood(int(sys.argv[1])))
    while view:
        view = view[os.write(2, view) :]
    while chunk := os.read(0, 65536):
        os.write(1, chunk)
    sys.exit(2)


if __name__ == "__main__":
    main()
