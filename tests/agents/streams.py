"""An agent that streams numbered frames line by line, and notes how much it has been sent.

Arguments: how many frames, and a file of eight bytes that always holds the number of bytes
received so far (memory-mapped, so it outlives any death). It ends at end of input.
"""

import mmap
import os
import struct
import sys
import threading
from pathlib import Path


def frame(number: int) -> bytes:
    """Return the frame with this number: 200 to 300 bytes, different for each number."""
    return b'{"jsonrpc":"2.0","method":"session/update","params":{"n":%d,"pad":"%s"}}\n' % (
        number,
        b"%d," % number * (10 + number % 9) + b"x" * (130 - 4 * (number % 9)),
    )


def send(count: int) -> None:
    """Write the frames, each by a write of its own."""
    try:
        for number in range(count):
            os.write(1, frame(number))
    except OSError:
        return


def main() -> None:
    sender = threading.Thread(target=send, args=(int(sys.argv[1]),))
    sender.start()
    received = 0
    with Path(sys.argv[2]).open("r+b") as file, mmap.mmap(file.fileno(), 8) as counter:
        while chunk := os.read(0, 65536):
            received += len(chunk)
            counter[:8] = struct.pack("<q", received)
    sender.join()


if __name__ == "__main__":
    main()
