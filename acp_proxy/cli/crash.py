"""The last catch: what nothing else explained becomes a message that a person can act on.

The message names the command, the kind of error and the place in our code, and quotes nothing
of what was read: it can be sent to others. The traceback, which may quote recorded content, is
printed only on request.
"""

import os
import sys
import traceback
from typing import TYPE_CHECKING, Final

from acp_proxy.log.schema import SQLITE_VERSION, SQLiteError
from acp_proxy.views.safe_text import visible, visible_lines

if TYPE_CHECKING:
    from collections.abc import Sequence

TRACEBACK_VARIABLE: Final = "ACP_PROXY_TRACEBACK"
"""Any value except empty or ``0`` prints the traceback of an unexpected error."""
FAILED: Final = 1
_PACKAGE: Final = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def report(error: BaseException, command: str) -> str:
    """Return what to tell a person about an error that no other code explained.

    Args:
        error: What was raised.
        command: The command's words, without its arguments.

    """
    why, then = _explained(error)
    lines = [f"acp-proxy: {visible(command)} stopped: {visible(why)}", f"  next: {then}"]
    if _is_ours(error):
        lines.append(f"  to report: {_fingerprint(error, command)}")
        lines.append(
            f"  the line above holds nothing that was recorded; {TRACEBACK_VARIABLE}=1 prints the "
            "traceback, which may"
        )
    if os.environ.get(TRACEBACK_VARIABLE, "") not in ("", "0"):
        lines.append(visible_lines("".join(traceback.format_exception(error))).rstrip("\n"))
    return "\n".join(lines) + "\n"


def command_of(arguments: "Sequence[str]", known: "Sequence[str]") -> str:
    """Return the command's name in a process's arguments, without what a person typed beside it."""
    return next((f"acp-proxy {word}" for word in arguments if word in known), "acp-proxy")


def _explained(error: BaseException) -> tuple[str, str]:
    """Return what went wrong and what to do next, without quoting data."""
    if isinstance(error, MemoryError):
        return (
            "there is not enough memory",
            "ask for less at once (a range of messages, one session), or on a machine with more",
        )
    if isinstance(error, RecursionError):
        return (
            "something that was recorded, or a file that was read, is nested too deep",
            "acp-proxy verify finds the connection; others can be read, and acp-proxy prune removes it",
        )
    if isinstance(error, SQLiteError):
        name = getattr(error, "sqlite_errorname", type(error).__name__)
        return (
            f"SQLite could not read or write the log ({name})",
            "acp-proxy verify checks the log, acp-proxy doctor what is around it",
        )
    if isinstance(error, OSError):
        reason = error.strerror or type(error).__name__
        where = (
            f" ({os.fsdecode(error.filename)})" if isinstance(error.filename, str | bytes) else ""
        )
        return (
            f"the system refused: {reason}{where}",
            "check that the file or output can be read or written and that its disk has room",
        )
    if isinstance(error, UnicodeError):
        return (
            "a text is in no encoding that can be read or written",
            "acp-proxy verify checks the log; PYTHONUTF8=1 lets any text be printed",
        )
    return (
        f"an unexpected error of acp-proxy ({type(error).__name__})",
        "acp-proxy verify checks whether the log is sound; please report the error",
    )


def _is_ours(error: BaseException) -> bool:
    """Tell whether somebody who maintains acp-proxy should know of it."""
    return not isinstance(error, MemoryError | OSError)


def _fingerprint(error: BaseException, command: str) -> str:
    from acp_proxy import __version__

    version = ".".join(map(str, sys.version_info[:3]))
    return (
        f"{command}, {type(error).__name__} at {_place(error)}, acp-proxy {__version__}, "
        f"Python {version}, SQLite {SQLITE_VERSION}, {sys.platform}"
    )


def _place(error: BaseException) -> str:
    """Return the innermost line of ours in the traceback."""
    ours = ""
    trace = error.__traceback__
    while trace is not None:
        path = os.path.abspath(trace.tb_frame.f_code.co_filename)
        if path.startswith(_PACKAGE + os.sep):
            ours = f"{os.path.relpath(path, os.path.dirname(_PACKAGE))}:{trace.tb_lineno}"
        trace = trace.tb_next
    return ours or "an unknown place"
