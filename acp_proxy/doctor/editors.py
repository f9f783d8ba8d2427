"""Checks of the settings files of editors: which of their agents go through us, and whether that works.

Only files in the places where editors look, and only those that have a shape we know
(``editors.known``). They are read, nothing else.
"""

import os
import shutil
from typing import TYPE_CHECKING

from acp_proxy.doctor.agents import DESKTOP_PATH, missing_on
from acp_proxy.doctor.findings import NOTE, OK, PROBLEM, Finding
from acp_proxy.editors import entries, files, places, wrapping
from acp_proxy.editors.jsonc import JsoncError
from acp_proxy.editors.known import EDITORS, Editor
from acp_proxy.errors import EditorError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from acp_proxy.editors.entries import Entry

_FROM_A_SHELL = ("acpx",)
"""They have the PATH of the shell that they are typed into."""


def settings_files() -> "Iterator[Finding]":
    """Yield what there is to say of each settings file that is there."""
    for name, editor in EDITORS.items():
        path = places.settings_of(name)
        if editor.shape is None or path is None or not os.path.exists(path):
            continue
        try:
            found = wrapping.read(files.read(path).text, editor.shape)
        except (EditorError, JsoncError) as error:
            yield Finding("editors", NOTE, f"{editor.title}: {path}: {error}", "mend it")
            continue
        ours = [entry for entry in found if entries.is_ours(entry.words)]
        if found:
            what = (
                f"{editor.title}: {len(ours)} of {len(found)} agents go through acp-proxy ({path})"
            )
            yield Finding("editors", OK, what)
        for entry in ours:
            yield from _entry(name, editor, entry)


def _entry(name: str, editor: Editor, entry: "Entry") -> "Iterator[Finding]":
    of = f'{editor.title}, "{entry.name}"'
    program = entry.words[0]
    if shutil.which(program) is None:
        again = f"acp-proxy config {name} --unwrap, then acp-proxy config {name} --write"
        yield Finding("editors", PROBLEM, f"{of}: there is no {program} (any more)", again)
        return
    yield from _found(of, name, entry, program)
    at = entries.agent_at(entry.words)
    if at is not None and shutil.which(entry.words[at]) is None:
        what = f"{of}: there is no program {entry.words[at]}"
        yield Finding("editors", PROBLEM, what, "install it, or correct the entry")
    elif at is not None:
        yield from _found(of, name, entry, entry.words[at])


def _found(of: str, name: str, entry: "Entry", program: str) -> "Iterator[Finding]":
    """Yield that a program may not be found by an editor, though a shell finds it."""
    missing = missing_on(_path_of(name, entry), program)
    if missing is None:
        return
    what = program if missing == program else f"{program}, which is run by {missing},"
    yield Finding(
        "editors",
        NOTE,
        f"{of}: {what} may not be found by an editor started from a desktop",
        "write whole paths, or give the entry's env a PATH",
    )


def _path_of(name: str, entry: "Entry") -> str:
    """Return the PATH that the agent of an entry is looked for in, as far as is sure."""
    data = entry.member.value.data
    env = data.get("env") if isinstance(data, dict) else None
    given = env.get("PATH") if isinstance(env, dict) else None
    if isinstance(given, str):
        return given
    return os.environ.get("PATH", "") if name in _FROM_A_SHELL else DESKTOP_PATH
