"""A log that somebody truncates, overwrites or empties while it is recorded into.

None of that makes a write fail. The journal goes only once the log gave back what is in it.
"""

from __future__ import annotations

import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING

import pytest

from tests.harness import Log, needs_linux, wait_until
from tests.transparency.conversation import Conversation

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

pytestmark = needs_linux


def _truncate(path: Path, size: int) -> None:
    with path.open("r+b") as file:
        file.truncate(size)


def _overwrite(path: Path) -> None:
    other = path.with_name("other.db")
    with closing(sqlite3.connect(other)) as db:
        db.execute("CREATE TABLE other (x)")
        db.commit()
    path.write_bytes(other.read_bytes())  # the same file, as cp(1) does


def _zero_a_page(path: Path) -> None:
    with path.open("r+b") as file:
        file.seek(4096)
        file.write(bytes(4096))


def _delete_frames(path: Path) -> None:
    with closing(sqlite3.connect(path, timeout=30)) as db:
        db.execute("DELETE FROM frames")
        db.execute("DELETE FROM messages")
        db.commit()


def _delete(path: Path) -> None:
    for file in path.parent.glob(f"{path.name}*"):
        if file.is_file():
            file.unlink()


DAMAGES: dict[str, Callable[[Path], None]] = {
    "truncated to nothing": lambda path: _truncate(path, 0),
    "truncated to half": lambda path: _truncate(path, path.stat().st_size // 2),
    "overwritten by another": _overwrite,
    "a page zeroed": _zero_a_page,
    "its frames deleted": _delete_frames,
    "its -wal deleted": lambda path: path.with_name(f"{path.name}-wal").unlink(),
    "deleted": _delete,
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_nothing_is_lost_when_the_log_is(log: Log, damage: str) -> None:
    with Conversation(log) as conversation:
        conversation.talk()
        wait_until(log.recorded, "it is recorded into")
        DAMAGES[damage](log.path)
        conversation.talk()
    wait_until(lambda: not log.recorders(), "the recorder has ended")

    said = log.ask("connections").stderr  # what waits gets its chance
    if log.journals():  # this file can no longer be used: a person moves it away
        assert b"not in the log yet" in said
        _delete(log.path)
    conversation.assert_complete(log.connection())
    log.assert_clean()
    assert log.journals() == []
