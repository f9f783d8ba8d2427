"""Signals: those sent to us are for the agent.

They are blocked in every thread and taken one by one in a thread of their own,
which can see where each came from: what the kernel sent (a Ctrl-C at a terminal)
went to the whole foreground group, so the agent has it already.
"""

import contextlib
import os
import signal
import threading
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable

ENDING = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGQUIT)
"""Signals that ask a process to end."""
FORWARDED = (
    *ENDING,
    signal.SIGUSR1,
    signal.SIGUSR2,
    signal.SIGWINCH,
)
_TAKEN = (*FORWARDED, signal.SIGTSTP, signal.SIGCONT)
_SI_KERNEL = 0x80


class Inherited(NamedTuple):
    """How the client had our signals when it started us.

    Attributes:
        mask: Those that were blocked.
        children_ignored: Whether the ends of children were; we need them, the agent may not.

    """

    mask: set[int]
    children_ignored: bool

    def restore(self) -> None:
        """Set them so again, in a process that is about to become the agent."""
        if self.children_ignored:
            signal.signal(signal.SIGCHLD, signal.SIG_IGN)
        signal.pthread_sigmask(signal.SIG_SETMASK, self.mask)


def take_over() -> Inherited:
    """Block the signals that are for the agent; return how things were before.

    A signal that the client had us ignore stays ignored, and the agent inherits that.
    Call it before any thread exists: threads inherit the mask.
    """
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, signal.SIG_DFL)  # we may have to die of it as the agent did
    children_ignored = signal.getsignal(signal.SIGCHLD) == signal.SIG_IGN
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, _TAKEN)
    return Inherited({int(signum) for signum in mask}, children_ignored)


def forward_to(pid: int, on_signal: "Callable[[int], object]") -> None:
    """Pass each blocked signal on to the agent from now on, those that wait already included.

    Args:
        pid: The agent's.
        on_signal: Called first with each signal.

    """
    threading.Thread(target=_forward, args=(pid, on_signal), daemon=True).start()


def _forward(pid: int, on_signal: "Callable[[int], object]") -> None:
    while True:
        signum, from_kernel = _next_signal()
        on_signal(signum)
        if not from_kernel or (signum == signal.SIGHUP and os.getsid(0) == os.getpid()):
            # (A hang-up is told to the leader of the terminal's session alone.)
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signum)
        if signum == signal.SIGTSTP:  # the kernel decides: in an orphaned group it stops nobody
            signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGTSTP})
            signal.pthread_kill(threading.get_ident(), signal.SIGTSTP)
            signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTSTP})


def _next_signal() -> tuple[int, bool]:
    if not hasattr(signal, "sigwaitinfo"):  # macOS: nobody tells where it came from
        return signal.sigwait(_TAKEN), False
    info = signal.sigwaitinfo(_TAKEN)
    return info.si_signo, info.si_code == _SI_KERNEL
