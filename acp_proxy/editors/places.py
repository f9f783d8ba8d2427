"""What editors are told about this machine: where acp-proxy, agents and settings files are."""

import os
import shutil
import sys
import sysconfig
from typing import TYPE_CHECKING

from acp_proxy.editors.entries import MODULE, PROGRAM

if TYPE_CHECKING:
    from collections.abc import Sequence

_PASSING = (f"{os.sep}.cache{os.sep}", f"{os.sep}Caches{os.sep}")  # of uvx and `pipx run`


def own_command() -> list[str]:
    """Return the words that start this acp-proxy from any folder and with any PATH."""
    script = sys.argv[0]
    if os.path.basename(script) == PROGRAM:
        candidates = [script if os.sep in script else shutil.which(script)]
    elif os.path.basename(script) == "__main__.py":
        return [sys.executable, "-m", MODULE]
    else:
        candidates = []
    candidates += [os.path.join(sysconfig.get_path("scripts"), PROGRAM), shutil.which(PROGRAM)]
    for candidate in candidates:
        if candidate and os.access(candidate, os.X_OK) and os.path.isfile(candidate):
            return [os.path.abspath(candidate)]
    return [sys.executable, "-m", MODULE]


def is_passing(command: "Sequence[str]") -> bool:
    """Tell whether a program lies in a cache, from which it may vanish."""
    return any(part in command[0] for part in _PASSING)


def whole_command(words: "Sequence[str]") -> tuple[list[str], bool]:
    """Return an agent's command with its program's absolute path, and whether that was found.

    Programs with a graphical window have a short PATH: they find little by its name.
    """
    program, *rest = words
    path = shutil.which(os.path.expanduser(program))
    if path is None:
        return [program, *rest], False
    return [os.path.abspath(path), *rest], True


def home() -> str:
    """Return the person's home folder."""
    return os.path.expanduser("~")


def settings_of(editor: str) -> str | None:
    """Return where an editor looks for its settings; None when its agents stand on a command line."""
    place = _SETTINGS.get(editor)
    return None if place is None else place()


def _zed() -> str:
    if sys.platform == "darwin":  # whatever XDG_CONFIG_HOME says
        return os.path.join(home(), ".config", "zed", "settings.json")
    return _configuration("zed", "settings.json")


def _vscode() -> str:
    if sys.platform == "darwin":
        folder = os.path.join(home(), "Library", "Application Support")
        return os.path.join(folder, "Code", "User", "settings.json")
    return _configuration("Code", "User", "settings.json")


def _jetbrains() -> str:
    return os.path.join(home(), ".jetbrains", "acp.json")


def _acpx() -> str:
    return os.path.join(home(), ".acpx", "config.json")


def _neovim() -> str:
    return _configuration("nvim", "init.lua")


def _emacs() -> str:
    """Return the one of two places that Emacs would take."""
    old = os.path.join(home(), ".emacs.d", "init.el")
    new = _configuration("emacs", "init.el")
    return new if os.path.exists(new) and not os.path.exists(old) else old


def _configuration(*names: str) -> str:
    """Return a path in the folder for settings that Linux programs, and some on macOS, use."""
    given = os.environ.get("XDG_CONFIG_HOME", "")
    folder = given if os.path.isabs(given) else os.path.join(home(), ".config")
    return os.path.join(folder, *names)


_SETTINGS = {
    "zed": _zed,
    "jetbrains": _jetbrains,
    "codecompanion": _neovim,
    "avante": _neovim,
    "agent-shell": _emacs,
    "acpx": _acpx,
    "vscode": _vscode,
}
