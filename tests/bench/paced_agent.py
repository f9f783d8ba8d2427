"""An agent that says so many messages a second, each with the moment at which it was written.

``paced_agent.py COUNT RATE``: one line at once, then, when the client has said anything, COUNT
lines of one length in steps of 10 ms. Late steps are made up for. It ends with its input.
"""

import os
import sys
import time

STEP_S = 0.01
_CHUNK = (
    b'{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":{'
    b'"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"%019d %s "}}}}\n'
)
_CALL = (
    b'{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":{'
    b'"sessionUpdate":"tool_call_update","toolCallId":"c%03d","status":"in_progress","title":"%019d %s"}}}\n'
)
SIZE = 300
_WORDS = b"watering the garden one bed after another until all of it is green " * 4


def line(number: int, moment: int) -> bytes:
    """Return a message of SIZE bytes that tells when it was written."""
    if number % 5:
        empty = len(_CHUNK % (0, b""))
        return _CHUNK % (moment, _WORDS[: SIZE - empty])
    empty = len(_CALL % (0, 0, b""))
    return _CALL % (number % 200, moment, _WORDS[: SIZE - empty])


def main() -> None:
    """Speak."""
    count, rate = map(int, sys.argv[1:])
    os.write(1, line(1, time.monotonic_ns()))
    os.read(0, 65536)
    start = time.monotonic()
    said = step = 0
    while said < count:
        step += 1
        time.sleep(max(0.0, start + step * STEP_S - time.monotonic()))
        due = min(count, int(step * STEP_S * rate))
        moment = time.monotonic_ns()
        rest = memoryview(b"".join(line(number, moment) for number in range(said, due)))
        while rest:
            rest = rest[os.write(1, rest) :]
        said = due
    while os.read(0, 65536):
        pass


if __name__ == "__main__":
    main()
