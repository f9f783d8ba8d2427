"""An agent that says what a test wants: lines of a FIFO to stdout, those after ``!`` to stderr.

It ends when the FIFO's writer does, and does not read its input.
"""

import sys


def main() -> None:
    with open(sys.argv[1], encoding="utf-8") as fifo:
        for line in fifo:
            stream = sys.stderr if line.startswith("!") else sys.stdout
            stream.write(line.removeprefix("!"))
            stream.flush()


if __name__ == "__main__":
    main()
