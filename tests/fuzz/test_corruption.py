"""Some logs and journals damaged at random: nothing is silently wrong, raises, or hangs."""

from __future__ import annotations

import sqlite3
import subprocess
from typing import TYPE_CHECKING

import pytest

from acp_proxy.state import checkpoints
from tests.fuzz.conversations import recordings
from tests.fuzz.corruption import run, run_journals
from tests.fuzz.samples import import_lines
from tests.harness import PROXY, environment

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.slow
def test_commands_on_damaged_logs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checkpoints, "SPACING", checkpoints.SPACING)  # it is changed; to be undone

    assert run(tmp_path / "logs", 60, 7, most=6) == []


@pytest.mark.slow
@pytest.mark.parametrize("at", [20, 4096, b"TEXT NOT NULL UNIQUE", b"agent_message_chunk"])
def test_a_process_tells_of_damage_in_words(tmp_path: Path, at: int | bytes) -> None:
    log = tmp_path / "log.db"
    conversation = next(lines for name, lines in recordings() if name == "v1.jsonl")
    import_lines(log, "v1", conversation)
    with sqlite3.connect(log) as db:
        db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    db.close()
    with log.open("r+b") as file:
        file.seek(at if isinstance(at, int) else log.read_bytes().index(at) - 200)
        file.write(b"\xa5" * 300)
    for words in (
        ["connections"],
        ["state", "--json"],
        ["transcript"],
        ["verify"],
        ["log", "info"],
    ):
        done = subprocess.run(
            [PROXY, *words, "--log", log],
            env=environment(),
            capture_output=True,
            timeout=60,
            check=False,
        )
        assert done.returncode in {0, 1}
        for word in (b"Traceback", b"Exception", b"Error:"):
            assert word not in done.stderr
        if words == ["verify"]:
            assert done.returncode == 1
            assert done.stdout or done.stderr


@pytest.mark.slow
def test_damaged_journals(tmp_path: Path) -> None:
    assert run_journals(tmp_path / "journals", 60, 7, most=6) == []
