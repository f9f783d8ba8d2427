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


def configuration(*names: str) -> str:
    """Return a path in the folder for settings that Linux programs, and some on macOS, use."""
    given = os.environ.get("XDG_CONFIG_HOME", "")
    folder = given if os.path.isabs(given) else os.path.join(home(), ".config")
    return os.path.join(folder, *names)


def zed_settings() -> str:
    """Return where Zed keeps its settings."""
    if sys.platform == "darwin":  # whatever XDG_CONFIG_HOME says
        return os.path.join(home(), ".config", "zed", "settings.json")
    return configuration("zed", "settings.json")


def vscode_settings() -> str:
    """Return where Visual Studio Code keeps its settings."""
    if sys.platform == "darwin":
        folder = os.path.join(home(), "Library", "Application Support")
        return os.path.join(folder, "Code", "User", "settings.json")
    return configuration("Code", "User", "settings.json")


def jetbrains_settings() -> str:
    """Return where JetBrains IDEs keep their agents."""
    return os.path.join(home(), ".jetbrains", "acp.json")


def acpx_settings() -> str:
    """Return where acpx keeps its settings."""
    return os.path.join(home(), ".acpx", "config.json")


def neovim_settings() -> str:
    """Return where Neovim looks for its settings first."""
    return configuration("nvim", "init.lua")


def emacs_settings() -> str:
    """Return where Emacs looks for its settings, the one that is there before others."""
    old = os.path.join(home(), ".emacs.d", "init.el")
    new = configuration("emacs", "init.el")
    return new if os.path.exists(new) and not os.path.exists(old) else old
