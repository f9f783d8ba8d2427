"""An agent that sends and receives at the same time, and reports the hash of both ways.

It sends a file (``--send PATH``) or one long frame (``--line BYTES``), reads its input to the
end, and writes ``{"sent": {...}, "received": {...}}`` to the report file.
"""

import argparse
import hashlib
import json
import os
import threading
from collections.abc import Iterator
from pathlib import Path


def long_line(size: int) -> Iterator[bytes]:
    """Yield one JSON frame of ``size`` bytes whose content tells its position."""
    head, tail = b'{"jsonrpc":"2.0","method":"_long","params":{"text":"', b'"}}\n'
    yield head
    left = size - len(head) - len(tail)
    block = 0
    while left > 0:
        piece = (b"%015d " % block * 4096)[:left]
        yield piece
        left -= len(piece)
        block += 1
    yield tail


def file_pieces(path: Path) -> Iterator[bytes]:
    """Yield the file in pieces of unequal size."""
    data = path.read_bytes()
    sizes = [1, 7, 4096, 100, 65537, 13]
    start = turn = 0
    while start < len(data):
        size = sizes[turn % len(sizes)]
        yield data[start : start + size]
        start += size
        turn += 1


def send(pieces: Iterator[bytes], result: dict[str, object]) -> None:
    """Write all pieces to standard output, hashing them."""
    digest, count = hashlib.sha256(), 0
    for piece in pieces:
        view = memoryview(piece)
        while view:
            view = view[os.write(1, view) :]
        digest.update(piece)
        count += len(piece)
    os.close(1)
    result.update(sha256=digest.hexdigest(), bytes=count)


def receive(result: dict[str, object]) -> None:
    """Read standard input to its end, hashing it."""
    digest, count = hashlib.sha256(), 0
    while chunk := os.read(0, 1 << 20):
        digest.update(chunk)
        count += len(chunk)
    result.update(sha256=digest.hexdigest(), bytes=count)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--send", type=Path)
    parser.add_argument("--line", type=int, default=0)
    parser.add_argument("--report", type=Path, required=True)
    options = parser.parse_args()
    pieces = file_pieces(options.send) if options.send else long_line(options.line)
    sent: dict[str, object] = {}
    received: dict[str, object] = {}
    sender = threading.Thread(target=send, args=(pieces, sent))
    sender.start()
    receive(received)
    sender.join()
    options.report.write_text(json.dumps({"sent": sent, "received": received}))


if __name__ == "__main__":
    main()
