"""Signals: those sent to us are for the agent.

They are blocked in every thread and taken one by one in a thread of their own,
which can see where each came from: what the kernel sent (a Ctrl-C at a terminal)
went to the whole foreground group, so the agent has it already.
"""

import contextlib
import os
import signal
import threading

FORWARDED = (
    signal.SIGTERM,
    signal.SIGINT,
    signal.SIGHUP,
    signal.SIGUSR1,
    signal.SIGUSR2,
    signal.SIGQUIT,
    signal.SIGWINCH,
)
_TAKEN = (*FORWARDED, signal.SIGTSTP, signal.SIGCONT)
_SI_KERNEL = 0x80


def take_over() -> set[int]:
    """Block the signals that are for the agent; return the mask that was in force before.

    A signal that the client had us ignore stays ignored, and the agent inherits that.
    Call it before any thread exists: threads inherit the mask.
    """
    return set(signal.pthread_sigmask(signal.SIG_BLOCK, _TAKEN))


def forward_to(pid: int) -> None:
    """Pass each blocked signal on to the agent from now on, those that wait already included."""
    threading.Thread(target=_forward, args=(pid,), daemon=True).start()


def _forward(pid: int) -> None:
    while True:
        signum, from_kernel = _next_signal()
        if not from_kernel:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signum)
        if signum == signal.SIGTSTP:
            os.kill(os.getpid(), signal.SIGSTOP)


def _next_signal() -> tuple[int, bool]:
    if not hasattr(signal, "sigwaitinfo"):  # macOS: nobody tells where it came from
        return signal.sigwait(_TAKEN), False
    info = signal.sigwaitinfo(_TAKEN)
    return info.si_signo, info.si_code == _SI_KERNEL
