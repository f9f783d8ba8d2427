"""One conversation through the proxy that must stay silent and whole, whatever happens to the log."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tests.agents.floods_stderr import flood
from tests.agents.streams import frame
from tests.harness import Log, Process, Way, agent, assert_holds, environment

if TYPE_CHECKING:
    from collections.abc import Mapping
    from types import TracebackType
    from typing import Self

STDERR = 300


def discard_waiting(info: Mapping[str, Any]) -> None:
    """Remove journals that wait in a folder for temporary files, which would outlive the test."""
    for waiting in info["waiting"]:
        Path(waiting["journal"]).unlink(missing_ok=True)
        Path(waiting["journal"] + ".lock").unlink(missing_ok=True)


@dataclass
class Conversation:
    """An echoing agent behind the proxy; each request is answered before the next is sent.

    Leaving the ``with`` block ends it, and fails when the client got one byte that the agent
    did not write, missed one, or saw another end than the agent's code 2.
    """

    log: Log
    env: Mapping[str, str] | None = None

    def __post_init__(self) -> None:
        self.said = bytearray()
        command = Way(self.log).command(agent("floods_stderr", STDERR))
        self.process = Process(command, process_group=0, env=self.env or environment())

    def talk(self, lines: int = 20) -> None:
        """Send so many lines, each after the answer to the one before."""
        for _ in range(lines):
            line = frame(len(self.said))
            self.said += line
            self.process.send(line)
            self.process.stdout.wait_count(len(self.said))

    def talk_much(self, size: int) -> None:
        """Send at least so many bytes, many lines at a time."""
        while size > 0:
            lines = b"".join(frame(len(self.said) + number) for number in range(50))
            self.said += lines
            size -= len(lines)
            self.process.send(lines)
            self.process.stdout.wait_count(len(self.said))

    def __enter__(self) -> Self:
        self.process.stderr.wait_count(STDERR)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        with self.process as process:
            if error is not None:
                return
            process.close_stdin()
            assert process.stdout.wait_end() == self.said
            assert process.stderr.wait_end() == flood(STDERR)
            assert process.wait() == 2

    def assert_complete(self, connection: Mapping[str, Any]) -> None:
        """Fail unless the recorded connection is this conversation, whole."""
        said = bytes(self.said)
        assert_holds(connection, client=said, agent=said, stderr=flood(STDERR))
        assert connection["status"] == "exited"
        assert connection["exitCode"] == 2
