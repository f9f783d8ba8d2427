"""Not an agent: makes the terminal on a descriptor its controlling terminal, then runs a command."""

import os
import sys


def main() -> None:
    os.login_tty(int(sys.argv[1]))
    os.execvp(sys.argv[2], sys.argv[2:])


if __name__ == "__main__":
    main()
