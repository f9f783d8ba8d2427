"""Who lives long in the soak, and whether it holds ever more: memory and descriptors over time."""

import contextlib
import os
from collections.abc import Callable
from pathlib import Path

WARM = 5
"""Samples that are not judged: who has just started still loads itself."""
MORE_MEMORY_KB = 24 * 1024
MORE_DESCRIPTORS = 6


class Watched:
    """One process, sampled now and then.

    Args:
        name: What it is called in the summary.
        pid: Who it is now; another one than before begins anew, None is nobody.
        more_kb: How much more memory it may come to hold.

    """

    def __init__(
        self, name: str, pid: Callable[[], int | None], more_kb: int = MORE_MEMORY_KB
    ) -> None:
        self.name = name
        self._more_kb = more_kb
        self._pid = pid
        self._last: int | None = None
        self._memory: list[int] = []
        self._descriptors: list[int] = []
        self.most_memory = self.most_descriptors = 0

    def sample(self) -> None:
        """Look at it now."""
        pid = self._pid()
        if pid != self._last:
            self._last, self._memory, self._descriptors = pid, [], []
        if pid is None:
            return
        with contextlib.suppress(OSError):
            descriptors = len(os.listdir(f"/proc/{pid}/fd"))
            for line in Path(f"/proc/{pid}/status").read_text().splitlines():
                if line.startswith("VmRSS:"):
                    self._memory.append(int(line.split()[1]))
                    self._descriptors.append(descriptors)
        self.most_memory = max([self.most_memory, *self._memory[-1:]])
        self.most_descriptors = max([self.most_descriptors, *self._descriptors[-1:]])

    def violations(self) -> list[str]:
        """Return what it holds more of at the end than in the first half."""
        memory, descriptors = self._memory[WARM:], self._descriptors[WARM:]
        half = len(memory) // 2
        if half < WARM:
            return []
        found = []
        if max(memory[half:]) > max(memory[:half]) + self._more_kb:
            found.append(f"{self.name}: memory went from {memory[0]} to {memory[-1]} KB")
        if max(descriptors[half:]) > max(descriptors[:half]) + MORE_DESCRIPTORS:
            found.append(f"{self.name}: {descriptors[0]} descriptors became {descriptors[-1]}")
        return found


def marked(mark: str) -> dict[int, str]:
    """Return the living processes that have this mark in their environment, and their commands."""
    found = {}
    for entry in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            if mark.encode() in (entry / "environ").read_bytes().split(b"\0"):
                state = (entry / "stat").read_text().rpartition(")")[2].split()[0]
                if state != "Z":
                    command = (entry / "cmdline").read_bytes().replace(b"\0", b" ")
                    found[int(entry.name)] = command.decode(errors="replace")
    return found


def recorders_of(proxy: int) -> list[int]:
    """Return the recorders that a proxy started and that live."""
    found = []
    for entry in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError, IndexError):
            fields = (entry / "stat").read_text().rpartition(")")[2].split()
            ours = int(fields[1]) == proxy and fields[0] != "Z"
            if ours and b"acp_proxy.recorder" in (entry / "cmdline").read_bytes():
                found.append(int(entry.name))
    return found
