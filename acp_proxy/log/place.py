"""Where the log is: as somebody chose (``acp_proxy.settings``), else the platform's state folder."""

import os

from acp_proxy.errors import LogError
from acp_proxy.installation import FALLBACK_ROOTS, is_private
from acp_proxy.settings import VARIABLES, Settings, load

VARIABLE = VARIABLES["log"]


def log_path(given: str | None = None, settings: Settings | None = None) -> str:
    """Return the absolute path of the log to use.

    Args:
        given: What a person chose; None for what the settings say.
        settings: What was loaded already.

    Raises:
        LogError: There is no such place; the text says why and what to do.
        SettingsError: The configuration cannot be read, and nothing went before it.

    """
    if given is not None and (why := _why_no_path(given)):
        raise LogError(why, "give the path of a file with --log")
    chosen = given or os.environ.get(VARIABLE) or (settings or load()).log.value
    if chosen:
        try:
            return os.path.abspath(os.path.expanduser(chosen))
        except OSError as error:  # the working folder was deleted
            why = f"{chosen} is relative to a working folder that is gone"
            raise LogError(why, "give an absolute path with --log") from error
    return default_path()


def default_path() -> str:
    """Return where the log is when nobody chose a place.

    Raises:
        LogError: There is none; the text says why and what to do.

    """
    return os.path.join(_state_folder() or fallback_folder(), "log.db")


def _why_no_path(given: str) -> str | None:
    """Return why a text that a person gave names no file, None when it does."""
    if not given:
        return "the log's path is empty"
    if given == "-":
        return "the log cannot be standard input or output (a file of that name: ./-)"
    if "\0" in given:
        return "the log's path holds a NUL character, which no path can"
    return None


def fallback_folder() -> str:
    """Return a folder of ours for those who have no home, whatever their environment says.

    Raises:
        LogError: Somebody else has taken all of the places.

    """
    for root in FALLBACK_ROOTS:
        folder = os.path.join(root, f"acp-proxy-{os.getuid()}")
        if not os.path.lexists(folder) or is_private(folder):
            return folder
    raise LogError(
        "this user has no home to keep a log in", f"choose one with --log or ${VARIABLE}"
    )


def _state_folder() -> str | None:
    try:
        from platformdirs import user_state_dir  # noqa: PLC0415 - 15 ms; a chosen path needs it not

        folder = user_state_dir("acp-proxy", appauthor=False)
    except (ImportError, RuntimeError):  # no HOME, and nobody knows this user
        return None
    return folder if os.path.isabs(folder) else None
