"""Where the log is when nobody says: ``$ACP_PROXY_LOG``, else the platform's state folder."""

import os

VARIABLE = "ACP_PROXY_LOG"


def log_path(given: str | None = None) -> str:
    """Return the absolute path of the log to use.

    Args:
        given: What a person chose; None for the default.

    """
    chosen = given or os.environ.get(VARIABLE)
    if chosen:
        return os.path.abspath(os.path.expanduser(chosen))
    from platformdirs import user_state_dir  # noqa: PLC0415 - 15 ms that a chosen path need not pay

    folder = user_state_dir("acp-proxy", appauthor=False)
    if not os.path.isabs(folder):  # no HOME, and nobody knows this user
        import tempfile  # noqa: PLC0415 - the same

        folder = os.path.join(tempfile.gettempdir(), f"acp-proxy-{os.getuid()}")
    return os.path.join(folder, "log.db")
