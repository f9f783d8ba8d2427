"""What a command writes never replaces the log that it reads, nor what belongs to the log."""

import os
import sqlite3
import subprocess
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from tests.cli.commands import invoke
from tests.cli.conversations import V1, put
from tests.harness import PROXY, environment

COMMANDS = [
    ("export", "--jsonl"),
    ("export", "--jsonl", "--raw"),
    ("export", "--stream", "agent"),
] + [("transcript", "--format", form) for form in ("text", "markdown", "html", "json")]
UUID = "0b6c5a1e-4c7c-4a52-9c0e-1f0a2b3c4d5e"


@pytest.fixture
def log(tmp_path: Path) -> Path:
    place = tmp_path / "place"
    place.mkdir()
    return put(place / "log.db", V1)


def hard_link(path: Path) -> str:
    other = path.parent.parent / "other name"
    os.link(path, other)
    return str(other)


def symlink(path: Path) -> str:
    other = path.parent.parent / "pointer"
    other.symlink_to(path)
    return str(other)


def symlink_to_folder(path: Path) -> str:
    other = path.parent.parent / "folder"
    other.symlink_to(path.parent)
    return str(other / path.name)


def relative(path: Path) -> str:
    return os.path.relpath(path)


def roundabout(path: Path) -> str:
    return f"{path.parent}/../{path.parent.name}/./{path.name}"


NAMES: list[Callable[[Path], str]] = [
    str,
    hard_link,
    symlink,
    symlink_to_folder,
    relative,
    roundabout,
]


def assert_refused(log: Path, output: str, *command: str) -> None:
    before = log.read_bytes()
    stderr = invoke(*command, "--log", log, "-o", output, code=1).stderr
    assert "was left alone; choose another file with -o" in stderr
    assert log.read_bytes() == before


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("name", NAMES)
def test_the_log_is_refused_under_any_name(
    log: Path, name: Callable[[Path], str], command: tuple[str, ...]
) -> None:
    assert_refused(log, name(log), *command)
    assert "all is well" in invoke("verify", "--log", log).stdout


@pytest.mark.parametrize("name", [str, symlink, symlink_to_folder, relative, roundabout])
@pytest.mark.parametrize("suffix", ["-wal", "-shm", "-journal", ".journals", "-WAL"])
def test_what_sqlite_or_the_proxy_will_put_beside_the_log_is_refused_before_it_is_there(
    log: Path, suffix: str, name: Callable[[Path], str]
) -> None:
    beside = log.with_name(log.name + suffix)
    for there in log.parent.glob("log.db?*"):
        there.unlink()

    assert_refused(log, name(beside), "export", "--jsonl")

    assert not beside.exists() or b"acp-proxy" not in beside.read_bytes()  # SQLite may make it


def test_side_files_are_refused_while_they_are_in_use(log: Path) -> None:
    with closing(sqlite3.connect(log)) as db:
        db.execute("UPDATE connections SET label = 'x', crc = NULL")
        db.commit()
        for suffix in ("-wal", "-shm"):
            beside = log.with_name(log.name + suffix)
            before = beside.read_bytes()
            assert_refused(log, str(beside), "transcript")
            assert beside.read_bytes() == before


def test_journals_and_their_folder_are_refused(log: Path) -> None:
    folder = log.with_name("log.db.journals")
    folder.mkdir(mode=0o700, exist_ok=True)
    journal = folder / f"{UUID}.damaged"
    journal.write_bytes(b"precious")
    (folder / "below").mkdir()

    for output in (folder, journal, folder / "new", folder / "below" / "new"):
        for name in (str, symlink):
            assert_refused(log, name(output), "export", "--jsonl")
            (output.parent.parent / "pointer").unlink(missing_ok=True)
    assert_refused(log, hard_link(journal), "export", "--jsonl")
    assert journal.read_bytes() == b"precious"


def test_the_settings_are_refused(
    log: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = tmp_path / "config.toml"
    monkeypatch.setenv("ACP_PROXY_CONFIG", str(settings))

    assert_refused(log, str(settings), "export", "--jsonl")
    assert not settings.exists()
    settings.write_text("label = 'mine'\n")
    for name in (str, symlink, hard_link):
        place = tmp_path / "deep" / "er"
        place.mkdir(parents=True, exist_ok=True)
        assert_refused(log, name(settings), "export", "--jsonl")
        (tmp_path.parent / "other name").unlink(missing_ok=True)
        (tmp_path.parent / "pointer").unlink(missing_ok=True)
    assert settings.read_text() == "label = 'mine'\n"


def test_a_log_that_is_reached_through_a_link_is_refused_by_its_real_name(log: Path) -> None:
    pointer = log.parent.parent / "log link"
    pointer.symlink_to(log)

    for output in (log, log.with_name("log.db-wal"), pointer):
        stderr = invoke("export", "--jsonl", "--log", pointer, "-o", output, code=1).stderr
        assert "was left alone" in stderr


@pytest.mark.skipif(not Path("/proc/self/fd").is_dir(), reason="there is no /proc here")
def test_a_descriptor_of_the_log_is_refused(log: Path) -> None:
    before = log.read_bytes()
    with log.open("r+b") as file:
        done = subprocess.run(
            [PROXY, "export", "--jsonl", "--log", log, "-o", f"/proc/self/fd/{file.fileno()}"],
            pass_fds=[file.fileno()],
            env=environment(),
            capture_output=True,
            timeout=60,
            check=False,
        )
    assert (done.returncode, log.read_bytes()) == (1, before)
    assert b"is the log itself" in done.stderr


@pytest.mark.parametrize("command", COMMANDS)
def test_any_other_file_is_written_anew_and_links_are_followed(
    log: Path, tmp_path: Path, command: tuple[str, ...]
) -> None:
    right = invoke(*command, "--log", log).stdout_bytes
    old = tmp_path / "out"
    old.write_bytes(b"x" * 1_000_000)
    pointer = tmp_path / "to out"
    pointer.symlink_to(old)

    invoke(*command, "--log", log, "-o", pointer)

    assert old.read_bytes() == right
    assert pointer.is_symlink()
    invoke(*command, "--log", log, "-o", tmp_path / "log.db-wal2")
    invoke(*command, "--log", log, "-o", os.devnull)
