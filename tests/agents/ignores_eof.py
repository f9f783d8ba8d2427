"""An agent that does not end at end of input, only when told to by SIGTERM; code 6."""

import os
import signal
import sys


def main() -> None:
    signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGTERM])
    while os.read(0, 65536):
        pass
    os.write(1, b"still here\n")
    signal.sigwait([signal.SIGTERM])
    os.write(1, b"told to go\n")
    sys.exit(6)


if __name__ == "__main__":
    main()
