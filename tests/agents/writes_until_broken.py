"""An agent that writes until its output breaks, and reports the error in a file; code 7."""

import os
import sys
from pathlib import Path


def main() -> None:
    number = 0
    try:
        while number < 10_000_000:
            os.write(1, b'{"jsonrpc":"2.0","method":"_n","params":{"n":%d}}\n' % number)
            number += 1
    except OSError as error:
        Path(sys.argv[1]).write_text(type(error).__name__)
        sys.exit(7)


if __name__ == "__main__":
    main()
