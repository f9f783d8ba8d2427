"""The agent's process: started as the client would have started it, and its end.

No supervision here, and no opinion on when an agent should end.
"""

import contextlib
import ctypes
import errno
import os
import resource
import shutil
import signal
import subprocess
import sys
from typing import TYPE_CHECKING

from acp_proxy.errors import AgentError
from acp_proxy.relay.signals import Inherited

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import NoReturn

_PR_SET_PDEATHSIG = 1


class Agent:
    """A started agent.

    Attributes:
        pid: Its process id.
        stdin: Where it reads; a descriptor to write.
        stdout: What it writes; a descriptor to read.
        stderr: What it writes there; a descriptor to read.

    """

    def __init__(self, process: "subprocess.Popen[bytes]") -> None:
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stderr is not None
        self._process = process  # keeps the pipes open
        self.pid = process.pid
        self.stdin = process.stdin.fileno()
        self.stdout = process.stdout.fileno()
        self.stderr = process.stderr.fileno()

    def close_stdin(self) -> None:
        """Give the agent its end of file."""
        with contextlib.suppress(OSError):
            self._process.stdin.close()  # type: ignore[union-attr]

    def close_stdout(self) -> None:
        """Take no more of its output: its next write fails, as if the client had gone."""
        with contextlib.suppress(OSError):
            self._process.stdout.close()  # type: ignore[union-attr]

    def wait(self) -> None:
        """Return when it has ended. Its process id stays taken until ``reap``."""
        os.waitid(os.P_PID, self.pid, os.WEXITED | os.WNOWAIT)

    def reap(self) -> int:
        """Return the status of the ended agent as the system call wait gives it."""
        _, status = os.waitpid(self.pid, 0)
        return status


def start(command: "Sequence[str]", before: Inherited) -> Agent:
    """Start the agent, in our process group, with our environment, folder and extra descriptors.

    On Linux it is killed when our main thread dies, whatever kills that. Call it
    from the main thread, before any other thread exists.

    Args:
        command: The program and its arguments.
        before: How signals were when we started: the agent gets them so, whatever we do with them.

    Raises:
        AgentError: It cannot be started.

    """
    parent = os.getpid()
    libc = ctypes.CDLL(None) if sys.platform == "linux" else None

    def before_exec() -> None:
        if libc is not None:
            libc.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
            if os.getppid() != parent:  # too late: the parent died before the line above
                os.kill(os.getpid(), signal.SIGKILL)
        before.restore()

    try:
        try:
            return Agent(_popen(list(command), before_exec))
        except OSError as error:
            if error.errno != errno.ENOEXEC:
                raise
            # A script without a first line that names its shell: execvp(3) gives it to sh.
            script = shutil.which(command[0]) or command[0]
            return Agent(_popen(["/bin/sh", script, *command[1:]], before_exec))
    except OSError as error:
        raise explain(command[0], error) from error


def environment() -> dict[bytes, bytes]:
    """Return the environment that the client gave us.

    Python itself may have changed LC_CTYPE in ours (PEP 538); Linux remembers the original.
    """
    try:
        with open("/proc/self/environ", "rb") as file:
            entries = file.read().split(b"\0")
    except OSError:
        return dict(os.environb)
    return {
        name: value
        for name, equals, value in (entry.partition(b"=") for entry in entries)
        if equals
    }


def _popen(command: list[str], before_exec: "Callable[[], None]") -> "subprocess.Popen[bytes]":
    return subprocess.Popen(
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        bufsize=0,
        close_fds=False,  # what the client gave beside the three is for the agent
        env=environment(),
        preexec_fn=before_exec,  # noqa: PLW1509 - no thread exists yet
    )


def explain(program: str, error: OSError) -> AgentError:
    """Return why a program cannot be started, and what to do."""
    if isinstance(error, FileNotFoundError):
        where = "" if "/" in program else f" on PATH ({os.environ.get('PATH', 'not set')})"
        return AgentError(
            f'cannot start "{program}": no such program{where}; '
            "give the agent's command after --, as you would type it",
            127,
        )
    remedy = "; it must be a program you may execute" if isinstance(error, PermissionError) else ""
    return AgentError(f'cannot start "{program}": {error.strerror}{remedy}', 126)


def exit_like(status: int) -> "NoReturn":
    """End this process as the agent ended: the same exit code, or death by the same signal."""
    if os.WIFSIGNALED(status):
        signum = os.WTERMSIG(status)
        with contextlib.suppress(OSError, ValueError):
            resource.setrlimit(resource.RLIMIT_CORE, (0, 0))  # one core file is enough
            signal.signal(signum, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signum})
        os.kill(os.getpid(), signum)
        os._exit(128 + signum)  # a signal that does not kill us
    os._exit(os.waitstatus_to_exitcode(status))
