"""An agent that says a word on both streams and ends at once: by a code, or by a signal's name."""

import os
import signal
import sys


def main() -> None:
    how = sys.argv[1]
    os.write(1, b'{"last":"words"}\n')
    os.write(2, b"goodbye\n")
    if how.isdigit():
        os._exit(int(how))
    number = signal.Signals[how]
    if number not in {signal.SIGKILL, signal.SIGSTOP}:
        signal.signal(number, signal.SIG_DFL)
    os.kill(os.getpid(), number)
    signal.pause()


if __name__ == "__main__":
    main()
