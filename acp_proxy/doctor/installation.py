"""Checks of the program itself: where it is, what it stands on, its settings."""

import difflib
import os
import platform
import shutil
import sqlite3
import sys
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING

from acp_proxy import __version__
from acp_proxy.doctor.findings import NOTE, OK, PROBLEM, Finding
from acp_proxy.log.retention import wrong_keep
from acp_proxy.settings import (
    CONFIG_VARIABLE,
    NO_PROGRESS_VARIABLE,
    OFF_VARIABLE,
    VARIABLES,
    Settings,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

_OTHER_VARIABLES = (CONFIG_VARIABLE, OFF_VARIABLE, NO_PROGRESS_VARIABLE)
_LIBRARIES = {
    "trio": "trio",
    "orjson": "orjson",
    "click": "click",
    "sqlite-utils": "sqlite_utils",
    "zstandard": "zstandard",
    "ahocorasick-rs": "ahocorasick_rs",
    "platformdirs": "platformdirs",
}
"""What is compiled or needed for recording: the distribution, and its module."""


def program() -> "Iterator[Finding]":
    """Yield which program this is, and which one a bare ``acp-proxy`` would start."""
    python = f"Python {platform.python_version()} at {sys.executable}"
    system = f"{platform.system()} {platform.release()} {platform.machine()}"
    yield Finding("program", OK, f"acp-proxy {__version__}, {python}, {system}")
    ours = os.path.join(os.path.dirname(os.path.abspath(sys.executable)), "acp-proxy")
    found = shutil.which("acp-proxy")
    if found is None:
        yield Finding(
            "program", NOTE, "acp-proxy is not on the PATH", f"write its full path: {ours}"
        )
    elif os.path.exists(ours) and os.path.realpath(found) != os.path.realpath(ours):
        what = f"the PATH has another acp-proxy first: {found}"
        yield Finding("program", NOTE, what, f"write the full path of this one: {ours}")
    if os.environ.get(OFF_VARIABLE, "") not in ("", "0"):
        yield Finding(
            "program", NOTE, f"{OFF_VARIABLE} is set: run records nothing", f"unset {OFF_VARIABLE}"
        )
    known = (*VARIABLES.values(), *_OTHER_VARIABLES)
    for name in sorted(os.environ):
        if name.startswith("ACP_PROXY_") and name not in known:
            near = difflib.get_close_matches(name, known, 1)
            remedy = f"did you mean {near[0]}?" if near else f"known: {', '.join(known)}"
            yield Finding("program", NOTE, f"{name} is set and means nothing", remedy)


def libraries() -> "Iterator[Finding]":
    """Yield the versions of what this stands on, and what of it does not work."""
    again = "install acp-proxy again, in an environment of its own"
    versions = [f"SQLite {sqlite3.sqlite_version}"]
    for name, module in _LIBRARIES.items():
        try:
            __import__(module)
            versions.append(f"{name} {version(name)}")
        except PackageNotFoundError:
            versions.append(f"{name} of unknown version")
        except Exception as error:  # noqa: BLE001 - whatever is wrong with it
            yield Finding("libraries", PROBLEM, f"{name} cannot be used: {error}", again)
    db = sqlite3.connect(":memory:")
    try:
        db.execute("CREATE VIRTUAL TABLE texts USING fts5(text)")
    except sqlite3.OperationalError as error:
        what = f"Python's SQLite has no full-text search: {error}"
        yield Finding("libraries", PROBLEM, what, "use another Python")
    finally:
        db.close()
    yield Finding("libraries", OK, ", ".join(versions))


def configuration(settings: Settings, trouble: str | None) -> "Iterator[Finding]":
    """Yield where the settings are, and what is wrong with them."""
    if trouble is not None:
        what = f"{trouble} (until then run blanks all secrets, and other commands refuse)"
        yield Finding("settings", PROBLEM, what, "correct the file")
        return
    if settings.keep.value is not None and (wrong := wrong_keep(settings.keep.value)) is not None:
        yield Finding("settings", PROBLEM, f"keep: {wrong}", f"see {settings.keep.source}")
    if settings.path is None:
        yield Finding("settings", OK, "none: this user has no home")
    elif os.path.exists(settings.path):
        yield Finding("settings", OK, settings.path)
    else:
        yield Finding("settings", OK, f"all as by default: there is no {settings.path}")
