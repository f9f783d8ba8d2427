"""Logs that were not made here: read through a private copy, never written, never acted upon."""

import os
import shutil
import signal
import sqlite3
import struct
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from acp_proxy.errors import LogError
from acp_proxy.log import conformity, schema
from acp_proxy.recording import open_recording
from tests.cli.commands import document, invoke
from tests.conftest import SHARED
from tests.harness import PROXY, Log, Process, environment, wait_until
from tests.trusting import trusted

LINES = b'{"from":"client","data":"{\\"jsonrpc\\":\\"2.0\\",\\"id\\":1,\\"method\\":\\"initialize\\"}"}\n'
READING = [
    "connections", "messages", "show 1 1", "state", "tool-calls", "tail", "search x", "stats",
    "timeline", "transcript", "export --jsonl", "export --stream client", "verify", "log info",
    "terminals", "permissions", "sessions", "pending", "diff 1 --at 1 --at 1", "doctor --no-self-test",
]  # fmt: skip
WRITING = [
    "prune 1 --yes", "compact --all", "log vacuum", "log migrate", "log reindex", "import -",
]  # fmt: skip


@pytest.fixture
def own(tmp_path: Path) -> Path:
    (tmp_path / "own").mkdir()
    log = tmp_path / "own" / "log.db"
    invoke("import", "-", "--log", log, stdin=LINES)
    return log


@pytest.fixture
def foreign(own: Path, tmp_path: Path) -> Path:
    """A log of which SQLite has nothing open, as it is unpacked from an archive."""
    (tmp_path / "pkg").mkdir()
    return Path(shutil.copy(own, tmp_path / "pkg" / "log.db"))


def change(log: Path, sql: str) -> None:
    with closing(sqlite3.connect(log)) as db:
        db.executescript(sql)


@pytest.fixture
def temporary(tmp_path: Path) -> Path:
    """Where processes of the test make copies."""
    (tmp_path / "temporary").mkdir()
    return tmp_path / "temporary"


def copies(temporary: Path) -> list[Path]:
    return list(temporary.glob("acp-proxy-copy-*"))


def ask(
    log: Path, words: str, temporary: Path | None = None
) -> "subprocess.CompletedProcess[bytes]":
    return subprocess.run(
        [str(PROXY), *words.split(), "--log", str(log)],
        env=environment(**({} if temporary is None else {"TMPDIR": str(temporary)})),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=120,
        check=False,
    )


def test_it_is_read_through_a_private_copy_and_left_as_it_is(
    foreign: Path, temporary: Path
) -> None:
    before = [(p.name, p.stat().st_mtime_ns, p.read_bytes()) for p in foreign.parent.iterdir()]
    folder = foreign.parent.stat().st_mtime_ns

    done = ask(foreign, "connections --json", temporary)

    assert b'"messages":1' in done.stdout.replace(b" ", b"")
    assert done.stderr.count(b"a private copy is read") == 1
    assert b"acp-proxy log trust" in done.stderr
    after = [(p.name, p.stat().st_mtime_ns, p.read_bytes()) for p in foreign.parent.iterdir()]
    assert (after, foreign.parent.stat().st_mtime_ns) == (before, folder)
    assert copies(temporary) == []


def test_what_stands_in_its_wal_is_read_too(own: Path, tmp_path: Path) -> None:
    (tmp_path / "pkg").mkdir()
    with closing(sqlite3.connect(own)) as reader:
        reader.execute("BEGIN")
        reader.execute("SELECT count(*) FROM frames").fetchall()
        invoke("import", "-", "--log", own, stdin=LINES)
        for suffix in ("", "-wal"):
            shutil.copy(f"{own}{suffix}", f"{tmp_path}/pkg/log.db{suffix}")

    assert len(document("connections", "--log", tmp_path / "pkg" / "log.db")) == 2


@pytest.mark.parametrize("words", WRITING)
def test_it_is_never_written(foreign: Path, words: str) -> None:
    before = foreign.read_bytes()

    refused = invoke(*words.split(), "--log", foreign, code=1, stdin=LINES)

    assert "is not written to" in refused.stderr
    assert "log trust" in refused.stderr
    assert foreign.read_bytes() == before


def test_its_owner_can_say_that_it_is_his(foreign: Path) -> None:
    told = invoke("log", "trust", foreign).stdout
    assert "1 connection, 1 message" in told
    assert "trusted from now on" in told
    assert "known already" in invoke("log", "trust", foreign).stdout

    assert invoke("connections", "--log", foreign).stderr == ""
    invoke("import", "-", "--log", foreign, stdin=LINES)
    assert len(document("connections", "--log", foreign)) == 2


def test_a_recording_into_it_waits_and_says_why(foreign: Path) -> None:
    command = [str(PROXY), "run", "--log", str(foreign), "--", "cat"]
    done = subprocess.run(
        command, input=b"hello\n", env=environment(), capture_output=True, timeout=60, check=False
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, b"hello\n", b"")
    log = Log(foreign)
    wait_until(lambda: not log.recorders(), "the recorder has given up")

    [waiting] = document("log", "info", "--log", foreign)["waiting"]
    assert "is not written to" in waiting["why"]
    assert "log trust" in waiting["remedy"]
    assert "nothing is recorded into it" in invoke("doctor", "--log", foreign, code=1).stdout
    assert len(log.journals()) == 1
    invoke("log", "trust", foreign)
    assert len(document("connections", "--log", foreign)) == 2
    assert log.export("client") == b"hello\n"
    assert log.journals() == []


def test_another_file_in_its_place_is_not_taken_for_it(own: Path, tmp_path: Path) -> None:
    """Not even the log itself, sent back by somebody who got it."""
    shutil.copy(own, tmp_path / "sent-back.db")
    os.rename(tmp_path / "sent-back.db", own)

    assert "a private copy is read" in invoke("connections", "--log", own).stderr


def test_a_log_that_was_overwritten_by_another_is_not_taken_for_it(
    own: Path, tmp_path: Path
) -> None:
    other = tmp_path / "other.db"
    invoke("import", "-", "--log", other, stdin=LINES)
    inode = own.stat().st_ino
    own.write_bytes(other.read_bytes())
    assert own.stat().st_ino == inode

    assert "a private copy is read" in invoke("connections", "--log", own).stderr


def test_a_log_of_an_earlier_step_in_the_state_folder_is_ours(
    foreign: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    change(foreign, "PRAGMA user_version = 0; PRAGMA application_id = 0")
    state = tmp_path / "state" / "acp-proxy"
    state.mkdir(parents=True, mode=0o700)
    os.chmod(state, 0o700)
    monkeypatch.setenv("XDG_STATE_HOME", str(state.parent))
    shutil.copy(foreign, state / "log.db")

    invoke("import", "-", "--log", state / "log.db", stdin=LINES)
    invoke("import", "-", "--log", foreign, code=1, stdin=LINES)


def test_a_shell_without_the_editors_state_folder_knows_its_logs(tmp_path: Path) -> None:
    elsewhere = environment(XDG_STATE_HOME=str(tmp_path / "editor"))
    log = tmp_path / "log.db"
    command = [str(PROXY), "import", "-", "--log", str(log)]
    subprocess.run(command, input=LINES, env=elsewhere, capture_output=True, timeout=60, check=True)

    assert invoke("connections", "--log", log).stderr == ""


@pytest.mark.parametrize("owned", [True, False])
@pytest.mark.parametrize("words", [*READING, *WRITING])
def test_a_rollback_journal_is_refused(own: Path, foreign: Path, words: str, owned: bool) -> None:
    log = own if owned else foreign
    hot = Path(f"{log}-journal")
    hot.write_bytes(b"\xd9\xd5\x05\xf9\x20\xa1\x63\xd7" + bytes(4096))
    before = log.read_bytes()

    done = invoke(*words.split(), "--log", log, code=0 if words == "log info" else 1, stdin=LINES)

    assert f"{hot} stands beside the log" in done.output
    assert (hot.exists(), log.read_bytes()) == (True, before)


def test_one_is_refused_where_there_is_no_log_yet(tmp_path: Path) -> None:
    (tmp_path / "log.db-journal").symlink_to(tmp_path / "nothing")

    done = invoke("import", "-", "--log", tmp_path / "log.db", code=1, stdin=LINES)

    assert "log.db-journal stands beside the log" in done.stderr


def test_a_leftover_and_a_hot_journal_delete_nothing(tmp_path: Path) -> None:
    maker = SHARED / "attacks" / "hot-journal-mk.py"
    if not maker.is_file():
        pytest.skip("../shared/attacks is absent: this clone stands alone")
    precious = tmp_path / "precious"
    precious.write_bytes(b"mine")
    log = tmp_path / "pkg" / "log.db"
    log.parent.mkdir()
    invoke("import", "-", "--log", log, stdin=LINES)
    command = [sys.executable, str(maker), str(precious)]
    subprocess.run(command, cwd=tmp_path, check=True, capture_output=True, timeout=60)
    assert Path(f"{log}-journal").exists()
    unpacked_journal(log)

    for words in READING:
        invoke(*words.split(), "--log", log, code=0 if words == "log info" else 1)
        assert precious.read_bytes() == b"mine"
    assert Path(f"{log}.journals", UUID).exists()


UUID = "00000000-0000-4000-8000-000000000001"


def unpacked_journal(log: Path, keep: str = "0 conversations") -> Path:
    """Put a journal beside a log that somebody else made: sound, but with no seal of ours."""
    from acp_proxy.installation import make_private_folder
    from acp_proxy.journal.append import JournalWriter
    from acp_proxy.journal.records import Facts, Stream

    folder = Path(f"{log}.journals")
    made = folder.parent / "elsewhere"
    make_private_folder(str(folder))
    make_private_folder(str(made))
    facts: Facts = {
        "event": "start",
        "uuid": UUID,
        "command": ["rm"],
        "log": str(log),
        "keep": keep,
    }
    writer = JournalWriter(str(made / UUID), facts)
    writer.append(Stream.CLIENT, b"hello\n")
    writer.close(0)
    path = folder / UUID
    path.write_bytes((made / UUID).read_bytes())  # its seal is right, but it is another file
    path.chmod(0o600)
    shutil.rmtree(made)
    return path


@pytest.mark.parametrize("has_log", [True, False])
def test_a_journal_that_was_unpacked_is_left_alone(
    own: Path, tmp_path: Path, has_log: bool
) -> None:
    log = own if has_log else tmp_path / "log.db"
    journal = unpacked_journal(log, "1 conversation")
    content = journal.read_bytes()

    done = invoke("connections", "--log", log, code=0)
    [waiting] = document("log", "info", "--log", log)["waiting"]

    assert "was not written by acp-proxy here" in done.stderr
    assert "was not written by acp-proxy here" in waiting["why"]
    assert (log.exists(), journal.read_bytes()) == (has_log, content)

    invoke("log", "trust", log)
    rows = document("connections", "--log", log)
    assert rows[0]["uuid"] == UUID
    assert not journal.exists()


def test_the_recorder_itself_refuses_it(own: Path) -> None:
    journal = unpacked_journal(own)
    code = "from acp_proxy.recorder import main; main()"
    command = [sys.executable, "-c", code, str(journal)]
    done = subprocess.run(command, capture_output=True, timeout=60, check=False)

    assert (done.returncode, journal.exists()) == (4, True)
    assert b"was not written by acp-proxy here" in done.stderr


@pytest.mark.parametrize("suffix", ["-wal", "-shm"])
@pytest.mark.parametrize("kind", ["link", "hard link", "pipe", "folder"])
def test_what_is_no_file_of_sqlites_beside_a_log_is_refused(
    own: Path, tmp_path: Path, suffix: str, kind: str
) -> None:
    mine, beside = tmp_path / "mine", Path(f"{own}{suffix}")
    mine.write_bytes(b"precious" * 1000)
    beside.unlink(missing_ok=True)
    make = {"link": beside.symlink_to, "hard link": beside.hardlink_to}
    if kind in make:
        make[kind](mine)
    elif kind == "pipe":
        os.mkfifo(beside)
    else:
        beside.mkdir()

    for words in ("connections", "import -"):
        done = invoke(*words.split(), "--log", own, code=1, stdin=LINES)
        assert f"{beside} is not an ordinary file of its own" in done.stderr
    assert mine.read_bytes() == b"precious" * 1000


@pytest.mark.parametrize("kind", ["link", "pipe", "folder"])
def test_a_wal_of_a_foreign_log_that_is_no_file_is_refused(
    foreign: Path, tmp_path: Path, kind: str
) -> None:
    wal = Path(f"{foreign}-wal")
    if kind == "link":
        wal.symlink_to("/dev/zero")
    elif kind == "pipe":
        os.mkfifo(wal)
    else:
        wal.mkdir()

    assert "no ordinary file" in invoke("connections", "--log", foreign, code=1).stderr


@pytest.mark.parametrize("kind", ["pipe", "folder", "device", "link to a pipe"])
def test_a_log_that_is_no_file_is_refused(tmp_path: Path, kind: str) -> None:
    log = tmp_path / "log.db"
    if kind == "folder":
        log.mkdir()
    elif kind == "device":
        log.symlink_to("/dev/zero")
    else:
        os.mkfifo(tmp_path / "pipe")
        log.symlink_to("pipe")

    for words in ("connections", "import -", "verify"):
        done = invoke(*words.split(), "--log", log, code=1, stdin=LINES)
        assert "no ordinary file" in done.stderr


def test_a_log_too_large_to_be_copied_says_what_to_do(foreign: Path, temporary: Path) -> None:
    os.truncate(foreign, 8 << 40)

    done = ask(foreign, "connections", temporary)

    assert (done.returncode, copies(temporary)) == (1, [])
    assert b"no room to copy" in done.stderr
    assert b"TMPDIR" in done.stderr


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_a_signal_removes_the_copy(foreign: Path, temporary: Path, number: int) -> None:
    command = [str(PROXY), "tail", "--follow", "--log", str(foreign)]
    with Process(command, env=environment(TMPDIR=str(temporary))) as process:
        wait_until(lambda: bool(copies(temporary)), "there is a copy")
        [made] = copies(temporary)
        wait_until((made / "log.db-shm").exists, "it is open")
        assert made.stat().st_mode & 0o777 == 0o700
        assert (made / "log.db").stat().st_mode & 0o777 == 0o600
        process.signal(number)
        process.wait()
    assert copies(temporary) == []


def test_what_a_killed_one_left_is_removed_by_the_next(foreign: Path, temporary: Path) -> None:
    code = (
        "import os, sys; from acp_proxy.log.copies import place_to_read; "
        "place_to_read(sys.argv[1]); os.kill(os.getpid(), 9)"
    )
    env = environment(TMPDIR=str(temporary))
    subprocess.run([sys.executable, "-c", code, str(foreign)], env=env, timeout=60, check=False)
    assert len(copies(temporary)) == 1

    assert ask(foreign, "connections", temporary).returncode == 0
    assert copies(temporary) == []


# What a schema may hold.

EVIL = {
    "trigger bad": "CREATE TRIGGER bad AFTER INSERT ON connections BEGIN SELECT 1; END",
    "trigger on_end": "CREATE TRIGGER on_end BEFORE DELETE ON frames BEGIN SELECT 1; END",
    "index by_label": "CREATE INDEX by_label ON connections (hex(zeroblob(length(label))))",
    "view wire": "DROP VIEW wire; CREATE VIEW wire AS SELECT zeroblob(900000000) AS raw",
    "view pruned": "DROP TABLE pruned; CREATE VIEW pruned AS SELECT 1 AS connection_id",
    "table pruned": "ALTER TABLE pruned ADD COLUMN g INTEGER GENERATED ALWAYS AS (abs(frames))",
    "table packs": "ALTER TABLE packs ADD COLUMN extra TEXT DEFAULT 'x' CHECK (length(extra) < 9)",
    "table fts": "CREATE VIRTUAL TABLE fts USING fts5(x)",
    "trigger texts_deleted": "DROP TRIGGER texts_deleted",
    "index packs_by_frame": "DROP INDEX packs_by_frame",
    "table turns": "DROP TABLE turns",
}
ENDLESS = (
    "DROP VIEW wire; CREATE VIEW wire AS WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x FROM n) "
    "SELECT x FROM n"
)


@pytest.mark.parametrize("owned", [True, False])
@pytest.mark.parametrize("name", EVIL)
def test_what_is_not_ours_in_a_schema_is_named(
    own: Path, foreign: Path, name: str, owned: bool
) -> None:
    log = own if owned else foreign
    change(log, EVIL[name])

    for words in ("connections", "verify", "export --jsonl", "import -", "prune 1 --yes"):
        done = invoke(*words.split(), "--log", log, code=1, stdin=LINES)
        if owned or words in ("connections", "verify", "export --jsonl"):
            assert f"{name} is" in done.stderr
    assert f"{name} is" in invoke("doctor", "--log", log, code=1).stdout
    assert f"{name} is" in invoke("import", foreign, "--log", own, code=1).stderr


def test_a_view_that_never_ends_is_never_asked(own: Path) -> None:
    change(own, ENDLESS)

    assert "view wire is not as acp-proxy makes it" in invoke("verify", "--log", own, code=1).stderr


def test_tables_and_views_of_ones_own_do_no_harm_in_ones_own_log(own: Path, foreign: Path) -> None:
    for log in (own, foreign):
        change(log, "CREATE TABLE notes (x); CREATE VIEW mine AS SELECT * FROM notes; ANALYZE")

    invoke("import", "-", "--log", own, stdin=LINES)
    assert "all is well" in invoke("verify", "--log", own).stdout
    assert "table notes is not one" in invoke("verify", "--log", foreign, code=1).stderr


def test_a_schema_of_very_many_objects_is_refused(foreign: Path) -> None:
    change(foreign, "BEGIN;" + "".join(f"CREATE TABLE t{n} (x);" for n in range(2000)) + "COMMIT")

    assert "more than 500 objects" in invoke("verify", "--log", foreign, code=1).stderr


def test_the_digests_are_those_of_the_migrations() -> None:
    made = [
        conformity._digest(conformity._expected(schema.STEPS[: n + 1]))
        for n in range(len(schema.STEPS))
    ]

    assert tuple(made) == conformity._DIGESTS


@pytest.mark.parametrize("name", ["inf_view", "trig", "loginfo-escape"])
@pytest.mark.parametrize("words", [*READING, *WRITING])
def test_the_logs_of_an_attacker_are_refused(tmp_path: Path, name: str, words: str) -> None:
    source = SHARED / "attacks" / f"{name}.db"
    if not source.is_file():
        pytest.skip("../shared/attacks is absent: this clone stands alone")
    log = Path(shutil.copy(source, tmp_path / "log.db"))

    done = invoke(*words.split(), "--log", log, code=0 if words == "log info" else 1, stdin=LINES)

    expected = {
        "inf_view": "view connections is not as acp-proxy makes it",
        "trig": "trigger t_connections is not one of acp-proxy",
        "loginfo-escape": "written by a newer acp-proxy",
    }[name]
    assert (expected if words in READING else "is not written to") in done.output


# What a file may make SQLite do.


def _tree_without_end(log: Path) -> None:
    """Let the pages of a table lead to each other so that a scan passes 300 to the 15th rows."""
    with closing(sqlite3.connect(log)) as db:
        db.execute("PRAGMA journal_mode = DELETE")
        [(root,)] = db.execute("SELECT rootpage FROM sqlite_schema WHERE name = 'frames'")
        [(pages,)] = db.execute("PRAGMA page_count")
        [(size,)] = db.execute("PRAGMA page_size")
    data = bytearray(log.read_bytes())
    leaf = bytes(data[(root - 1) * size : root * size])
    levels, cells = 15, 300

    def interior(child: int) -> bytes:
        page = bytearray(size)
        start = size - 5 * cells
        page[:12] = struct.pack(">BHHHBI", 5, 0, cells, start, 0, child)
        for number in range(cells):
            at = start + 5 * number
            page[12 + 2 * number : 14 + 2 * number] = struct.pack(">H", at)
            page[at : at + 5] = struct.pack(">IB", child, 1)
        return bytes(page)

    data[(root - 1) * size : root * size] = interior(pages + 1)
    for level in range(1, levels):
        data += interior(pages + level + 1)
    data += leaf
    data[28:32] = struct.pack(">I", pages + levels)
    data[18:20] = b"\2\2"
    log.write_bytes(data)


def test_pages_that_lead_to_each_other_do_not_hold_a_command_for_ever(foreign: Path) -> None:
    _tree_without_end(foreign)

    for words in ("export --jsonl", "messages", "transcript", "stats"):
        assert b"Traceback" not in ask(foreign, words).stderr
    assert b"far more work than a log of its size" in ask(foreign, "log info").stdout
    assert b"far more work than a log of its size" in ask(foreign, "doctor --no-self-test").stdout
    assert b"2nd reference to page" in ask(foreign, "verify").stdout


def test_a_row_of_900_mb_takes_no_such_memory(foreign: Path) -> None:
    with closing(sqlite3.connect(foreign)) as db, db:
        db.execute("UPDATE frames SET raw = zeroblob(900000000)")
    code = (
        "import resource, sys; resource.setrlimit(resource.RLIMIT_AS, (3 << 30, 3 << 30)); "
        "sys.argv[0] = 'acp-proxy'; from acp_proxy.cli import main; main()"
    )
    for words in ("export --stream client", "messages", "verify", "transcript"):
        command = [sys.executable, "-c", code, *words.split(), "--log", str(foreign)]
        done = subprocess.run(
            command, env=environment(), capture_output=True, timeout=120, check=False
        )
        assert b"Traceback" not in done.stderr, done.stderr[-500:]


# Logs travel by import and export.


def test_all_connections_of_another_log_can_be_imported(own: Path, foreign: Path) -> None:
    invoke("log", "trust", foreign)
    invoke("import", "-", "--log", foreign, "--label", "second", stdin=LINES * 2)
    before = foreign.read_bytes()

    told = invoke("import", foreign, "--log", own)

    assert "connection 3, which was 2: 2 frames, 2 messages" in told.stdout
    with open_recording(own) as mine, open_recording(foreign) as other:
        assert [row.label for row in mine.connections()] == ["second", None, None]
        for ours, theirs in ((3, 2), (2, 1)):
            assert b"".join(mine.stream(ours, "client")) == b"".join(other.stream(theirs, "client"))
    assert "all is well" in invoke("verify", "--log", own).stdout
    assert foreign.read_bytes() == before


def test_a_log_is_not_imported_into_itself(own: Path) -> None:
    assert "is the log itself" in invoke("import", own, "--log", own, code=1).stderr


def test_from_python_it_is_read_and_says_so(foreign: Path) -> None:
    with open_recording(foreign) as recording:
        assert recording.connection().messages == 1
        assert "a private copy is read" in (recording.notice or "")
    trusted(foreign)
    with open_recording(foreign) as recording:
        assert recording.notice is None


def test_what_is_not_there_cannot_be_trusted(tmp_path: Path) -> None:
    assert "neither a log" in invoke("log", "trust", tmp_path / "log.db", code=1).stderr


def test_a_foreign_log_cannot_be_opened_for_writing_from_python(foreign: Path) -> None:
    with pytest.raises(LogError, match="is not written to"):
        schema.open_for_writing(str(foreign))
