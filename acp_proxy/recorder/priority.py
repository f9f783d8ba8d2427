"""How much of the machine a recorder takes: little beside the traffic, its share when that is over.

Linux may share the processor out among sessions first (autogroups; many desktops and servers do), and
a recorder has a session of its own: there, its niceness counts for nothing, and thirty recorders
would get thirty times what the one session with client, proxies and agents gets. A session has a
niceness of its own, though, and unlike a process's it can be taken back.
"""

import contextlib
import math
import os
from typing import Final

AUTOGROUP = "/proc/self/autogroup"
_NICE: Final = 10
_USUAL: Final = 0
_ALONE: Final = 5
_MOST: Final = 19
_STEPS_TO_HALVE: Final = math.log(2) / math.log(1.25)  # the kernel's weights: 1.25 a step


class Priority:
    """That of this process, whose session holds nobody else.

    Args:
        autogroup: The file in which the kernel keeps the session's niceness.

    """

    def __init__(self, autogroup: str = AUTOGROUP) -> None:
        self._autogroup = autogroup
        self._wanted: int | None = None
        self._now = _USUAL
        with contextlib.suppress(OSError):
            os.nice(_NICE)

    def yield_to_traffic(self, recorders: int) -> None:
        """Take little while others want much: all recorders together a third of one session's share, or a little more.

        Args:
            recorders: How many there are, this one included.

        """
        steps = round(_ALONE + _STEPS_TO_HALVE * math.log2(recorders))
        self._want(min(_MOST, steps))

    def finish(self) -> None:
        """Take a share like others: the traffic is over, and somebody may wait for the log."""
        self._want(_USUAL)

    def settle(self) -> None:
        """Try again what the kernel refused: it takes ten such wishes a second from all users."""
        if self._wanted is not None:
            self._set(self._wanted)

    def _want(self, niceness: int) -> None:
        if niceness != self._now:
            self._now = niceness
            self._set(niceness)

    def _set(self, niceness: int) -> None:
        self._wanted = None
        if os.getsid(0) != os.getpid():  # somebody else's session
            return
        try:
            with open(self._autogroup, "w", encoding="ascii") as file:
                file.write(str(niceness))
        except BlockingIOError:
            self._wanted = niceness
        except OSError:  # no such thing here
            pass
