"""An agent that talks but does not read, until somebody opens the given FIFO.

It sends so many numbered lines, waits for the FIFO, then reads all its input and tells its
length and hash in the last line.
"""

import hashlib
import os
import sys
from pathlib import Path


def main() -> None:
    for number in range(int(sys.argv[1])):
        os.write(1, b'{"jsonrpc":"2.0","method":"_n","params":{"n":%d}}\n' % number)
    os.write(1, b"talked\n")
    Path(sys.argv[2]).read_bytes()
    digest, count = hashlib.sha256(), 0
    while chunk := os.read(0, 65536):
        digest.update(chunk)
        count += len(chunk)
    os.write(1, f"read {count} {digest.hexdigest()}\n".encode())


if __name__ == "__main__":
    main()
