"""An agent that answers each line with the same line, whole, over raw descriptors.

It reads a line to its end before it answers, as every real agent does, so a client may
write first and read afterwards whatever the length. No JSON, no buffering.
"""

import os

CHUNK = 1 << 20


def main() -> None:
    """Echo lines until the client ends."""
    parts: list[bytes] = []
    while chunk := os.read(0, CHUNK):
        parts.append(chunk)
        if chunk.endswith(b"\n"):
            rest = memoryview(b"".join(parts) if len(parts) > 1 else chunk)
            parts.clear()
            while rest:
                rest = rest[os.write(1, rest) :]


if __name__ == "__main__":
    main()
