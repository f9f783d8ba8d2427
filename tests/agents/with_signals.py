"""Not an agent: ignores and blocks the named signals, then runs a command that inherits that.

Arguments: names to ignore and names to block, both separated by commas, then the command.
"""

import os
import signal
import sys


def main() -> None:
    for name in ("SIGPIPE", "SIGXFSZ"):  # Python ignores these for itself
        signal.signal(signal.Signals[name], signal.SIG_DFL)
    for name in filter(None, sys.argv[1].split(",")):
        signal.signal(signal.Signals[name], signal.SIG_IGN)
    blocked = [signal.Signals[name] for name in filter(None, sys.argv[2].split(","))]
    signal.pthread_sigmask(signal.SIG_BLOCK, blocked)
    os.execvp(sys.argv[3], sys.argv[3:])


if __name__ == "__main__":
    main()
