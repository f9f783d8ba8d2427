"""An agent that plays its side of a prepared conversation, exchange by exchange.

``exchange_agent.py FOLDER``, a folder that ``conversation.py`` has filled: it reads what
the client has to say first, then writes what answers it. So responses really follow
their requests, at full speed; nothing is parsed.
"""

import os
import sys
from pathlib import Path


def listen(size: int) -> None:
    """Read exactly what the client says now."""
    while size > 0:
        size -= len(os.read(0, size)) or sys.exit("the client ended early")


def main() -> None:
    """Play all exchanges."""
    folder = Path(sys.argv[1])
    exchanges = [
        tuple(map(int, line.split())) for line in (folder / "exchanges").read_text().splitlines()
    ]
    with (folder / "agent").open("rb", buffering=0) as agent:
        for awaited, answer in exchanges:
            listen(awaited)
            rest = memoryview(agent.read(answer))
            while rest:
                rest = rest[os.write(1, rest) :]


if __name__ == "__main__":
    main()
