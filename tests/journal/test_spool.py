"""The folders of journals: places, fallbacks, who is alive, who has the claim."""

import os
import stat
from pathlib import Path

import pytest

from acp_proxy.journal import spool
from acp_proxy.journal.records import decode_facts
from acp_proxy.journal.tail import JournalReader


@pytest.fixture
def log(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setattr(spool, "FALLBACK_ROOTS", (str(tmp_path / "temporary"),))
    return str(tmp_path / "folder" / "log.db")


def test_a_journal_stands_beside_its_log(log: str) -> None:
    writer = spool.create(log, "one")

    assert writer is not None
    assert writer.path == log + ".journals/one"
    assert stat.S_IMODE(os.stat(log + ".journals").st_mode) == 0o700
    assert spool.waiting(log) == [writer.path]
    assert spool.is_alive(writer.path)
    writer.close(0)
    assert not spool.is_alive(writer.path)


def test_a_journal_goes_elsewhere_when_its_folder_cannot_be(log: str, tmp_path: Path) -> None:
    (tmp_path / "folder").write_text("in the way")

    writer = spool.create(log, "one")

    assert writer is not None
    assert writer.path == os.path.join(spool.fallback_folders(log)[0], "one")
    assert spool.waiting(log) == [writer.path]
    assert spool.waiting(log + "2") == []
    writer.close(0)


def test_there_is_no_journal_when_no_place_can_be_written(log: str, tmp_path: Path) -> None:
    (tmp_path / "folder").write_text("in the way")
    (tmp_path / "temporary").write_text("in the way too")

    assert spool.create(log, "one") is None


def test_a_link_is_not_followed(log: str, tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "elsewhere").mkdir()
    Path(log + ".journals").symlink_to(tmp_path / "elsewhere")

    writer = spool.create(log, "one")

    assert writer is not None
    assert list((tmp_path / "elsewhere").iterdir()) == []
    writer.close(0)


def test_only_journals_are_listed(log: str) -> None:
    folder = Path(log + ".journals")
    folder.mkdir(parents=True)
    for name in ("one", "one.lock", "two.new", "three.damaged"):
        (folder / name).touch()

    assert spool.waiting(log) == [str(folder / "one")]


def test_one_at_a_time_has_the_claim(log: str) -> None:
    path = log + ".journals/one"
    os.makedirs(log + ".journals")
    first, second = spool.Claim(path), spool.Claim(path)

    assert first.take()
    assert not second.take()
    first.release()
    assert second.take()
    second.release()
    assert os.listdir(log + ".journals") == []


def test_a_journal_that_can_be_found_has_its_first_record(log: str) -> None:
    writer = spool.create(log, "one", {"event": "start", "uuid": "one"})

    assert writer is not None
    with JournalReader(writer.path) as reader:
        assert [decode_facts(record.data) for record in reader.read(0)] == [
            {"event": "start", "uuid": "one"}
        ]
    writer.close(0)
