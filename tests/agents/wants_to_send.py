"""An agent that wants to send so many bytes of lines, listening to its input meanwhile.

Arguments: bytes to send, and a file of sixteen bytes (memory-mapped) that holds how many were
sent so far, and how many ``session/cancel`` were received, which it also tells on stderr. It ends
at end of input.
"""

import hashlib
import mmap
import os
import struct
import sys
import threading
from pathlib import Path


def send(size: int, counter: mmap.mmap) -> None:
    """Write ``size`` bytes in numbered lines; afterwards tell their hash on stderr."""
    digest, sent, number = hashlib.sha256(), 0, 0
    while sent < size:
        lines = b"".join(b'{"n":%d,"pad":"%0900d"}\n' % (n, n) for n in range(number, number + 100))
        number += 100
        view = memoryview(lines)[: size - sent]
        digest.update(view)
        while view:
            written = os.write(1, view[:4096])
            sent += written
            view = view[written:]
            counter[:8] = struct.pack("<q", sent)
    os.write(2, digest.hexdigest().encode() + b"\n")


def main() -> None:
    with Path(sys.argv[2]).open("r+b") as file, mmap.mmap(file.fileno(), 16) as counter:
        sender = threading.Thread(target=send, args=(int(sys.argv[1]), counter))
        sender.start()
        cancels = 0
        while chunk := os.read(0, 65536):
            cancels += chunk.count(b"session/cancel")
            counter[8:16] = struct.pack("<q", cancels)
            os.write(2, b"%d cancels\n" % cancels)
        sender.join()


if __name__ == "__main__":
    main()
