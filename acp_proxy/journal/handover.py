"""Handing a journal to a recorder: how the recorder's process is started, what its end means.

Only the process is known here, not what it does with the journal.
"""

import contextlib
import os
import subprocess
import sys

DONE = 0
"""Exit code of a recorder after which nothing is left to do."""
GAVE_UP = 4
"""Exit code of a recorder that cannot do its work now; starting it again would not help."""

# The package's own folder goes last: the working directory, an untrusted repository, never gets in.
_START = "import sys; sys.path.append(sys.argv.pop(1)); from acp_proxy.recorder import main; main()"


def start_recorder(
    journal: str, wake: int | None = None, *, stderr: int = subprocess.DEVNULL
) -> "subprocess.Popen[bytes]":
    """Start the process that puts a journal into its log; it outlives us if need be.

    Args:
        journal: Path of the journal.
        wake: A pipe's end to read: bytes mean that the journal has grown, its end that the proxy is
            gone. None for a journal that is left over.
        stderr: Where it says why it gave up.

    Raises:
        OSError: No process can be started.

    """
    here = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    arguments = [journal] if wake is None else [journal, str(wake)]
    return subprocess.Popen(
        [sys.executable, "-P", "-c", _START, here, *arguments],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=stderr,
        cwd="/",
        start_new_session=True,
        pass_fds=() if wake is None else (wake,),
    )


def hurry(recorder: "subprocess.Popen[bytes]") -> None:
    """Let a recorder that yielded to the traffic take its share: the traffic is over.

    It would notice by itself, but on a busy machine it may not come to that for long.
    """
    if recorder.returncode is None:
        with contextlib.suppress(OSError), open(f"/proc/{recorder.pid}/autogroup", "w") as file:
            file.write("0")
