"""An agent that says hello on a descriptor it was given, closes it, and echoes its input."""

import os
import sys


def main() -> None:
    fd = int(sys.argv[1])
    os.write(fd, b"hello from %d\n" % os.getpid())
    os.close(fd)
    while chunk := os.read(0, 65536):
        os.write(1, chunk)


if __name__ == "__main__":
    main()
