"""What the program answers a shell's script, and that it leaves no trace and says nothing else."""

import os
import shutil
import sqlite3
import subprocess
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from acp_proxy.errors import LogError
from acp_proxy.log import names
from acp_proxy.log.names import MOST
from tests.cli.commands import invoke
from tests.cli.conversations import V1, V2, put, update
from tests.harness import PROXY, environment
from tests.trusting import trusted

_BREAKS = " \t\n\"'><=;|&(:"


def ask(
    line: str, log: Path, shell: str = "fish", **variables: str
) -> subprocess.CompletedProcess[str]:
    """Ask as a script does what fits at the end of a line."""
    env = environment(
        ACP_PROXY_LOG=str(log), COMP_WORDS=f"acp-proxy {line}", COMP_WORDBREAKS=_BREAKS,
        _ACP_PROXY_COMPLETE=f"{shell}_complete", **variables,
    )  # fmt: skip
    return subprocess.run([PROXY], env=env, check=False, capture_output=True, text=True, timeout=60)


def offered(line: str, log: Path, shell: str = "fish", **variables: str) -> dict[str, str]:
    """Return the values that are offered with what is told of them, in their order."""
    done = ask(line, log, shell, **variables)
    assert done.stderr == ""
    lines = done.stdout.splitlines()
    pairs = [text.partition("\t") for kind, text in zip(lines[::2], lines[1::2], strict=False)]
    return {value: about for value, _, about in pairs}


@pytest.fixture(scope="module")
def log(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A log with V1 as connection 1 and V2 as connection 2, the latest."""
    path = tmp_path_factory.mktemp("completion") / "log.db"
    return put(put(path, V1), V2)


def test_connections_are_offered_newest_first(log: Path) -> None:
    found = offered("messages ", log)

    assert list(found) == ["latest", "2", "1"]
    assert found["1"] == "imported"


def test_a_beginning_of_a_uuid_is_offered_the_whole(log: Path) -> None:
    with closing(sqlite3.connect(log)) as db:
        [(uuid,)] = db.execute("SELECT uuid FROM connections WHERE id = 1")

    assert list(offered(f"messages {uuid[:9]}", log)) == [uuid]


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("tool-call ", {"c1": "completed: Edit", "latest": "imported", "2": "imported", "1": "imported"}),
        ("tool-call 1 ", {"c1": "completed: Edit a"}),
        ("tool-call 1 c1 ", {}),
        ("terminal 2 ", {"u": "running: top", "t": "exit 3: ls"}),
        ("terminal 1 t", {"term": "running: ls"}),
        ("terminal nothing ", {}),
        ("messages 1 --tool-call ", {"c1": "completed: Edit a"}),
        ("messages --session ", {"s": "/garden"}),
        ("search x --connection ", {"latest": "imported", "2": "imported", "1": "imported"}),
        ("prune 2 ", {"latest": "imported", "1": "imported"}),
        ("tool-calls 1 --status ", {"completed": "", "in_progress": ""}),
        ("tool-calls --kind ", {"edit": ""}),
        ("messages 1 --method session/p", {"session/prompt": ""}),
        ("messages 2 --update term", {"terminal_output_chunk": "", "terminal_update": ""}),
        ("show 1 7", {"7": "permission selected"}),
        ("show 1 1", {
            "17": "request terminal/wait_for_exit", "16": "text", "15": "notification session/update",
            "14": "result", "13": "request terminal/output", "12": "result",
            "11": "request terminal/create", "10": "notification session/update",
            "1": "request initialize",
        }),
        ("state 2 --at 10", {"10": "notification session/update"}),
        ("log re", {"reindex": "Rebuild what is derived from the frames of..."}),
        ("completion ", {"bash": "", "fish": "", "zsh": ""}),
    ],
)  # fmt: skip
def test_names_of_the_connection_on_the_line_are_offered(
    line: str, expected: dict[str, str], log: Path
) -> None:
    assert offered(line, log) == expected


def test_the_newest_are_offered_and_older_ones_when_they_are_begun(tmp_path: Path) -> None:
    calls = [
        ("agent", update("tool_call", toolCallId=f"call-{number:03}", title="x", status="pending"))
        for number in range(200)
    ]
    log = put(tmp_path / "log.db", [*V1[:5], *calls])

    assert list(offered("tool-call 1 ", log)) == [f"call-{199 - at:03}" for at in range(MOST)]
    assert list(offered("tool-call 1 call-00", log)) == [f"call-00{9 - at}" for at in range(10)]


def test_a_question_is_given_up_when_it_takes_too_long(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls = [("agent", update("tool_call", toolCallId=f"{at}", title="x")) for at in range(400)]
    log = put(tmp_path / "log.db", [*V1[:5], *calls])
    monkeypatch.setattr(names, "_PATIENCE_S", -1)

    with names.Names(str(log)) as opened, pytest.raises(LogError, match="interrupted"):
        list(opened.of("tool_calls", "1", ""))


def test_labels_are_offered_newest_first(log: Path, tmp_path: Path) -> None:
    other = tmp_path / "log.db"
    exported = tmp_path / "exported.jsonl"
    invoke("export", "1", "--jsonl", "--log", log, "-o", exported)
    for label in ("the garden", "the shed", "the garden"):
        invoke("import", exported, "--log", other, "--label", label)

    assert list(offered("run --label ", other)) == ["the garden", "the shed"]


# Logs that cannot be read.


def _nothing(path: Path) -> None:
    """There is no log."""


def _no_database(path: Path) -> None:
    path.write_bytes(b"no database" * 1000)


def _other_database(path: Path) -> None:
    with closing(sqlite3.connect(path)) as db:
        db.execute("CREATE TABLE connections (id)")


def _newer(path: Path) -> None:
    put(path, V1)
    with closing(sqlite3.connect(path)) as db, db:
        db.execute(
            "INSERT INTO _sqlite_migrations (migration_set, name, applied_at) "
            "VALUES ('acp_proxy', 'm9999_later', '2030-01-01')"
        )


def _damaged(path: Path) -> None:
    put(path, V1)
    with closing(sqlite3.connect(path)) as db:
        db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    data = bytearray(path.read_bytes())
    data[4096:] = b"\xa5" * (len(data) - 4096)
    path.write_bytes(data)


def _pipe(path: Path) -> None:
    os.mkfifo(path)


def _folder(path: Path) -> None:
    path.mkdir()


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
@pytest.mark.parametrize(
    "make", [_nothing, _no_database, _other_database, _newer, _damaged, _pipe, _folder]
)
def test_a_log_that_cannot_be_read_gives_nothing_in_silence(
    make: Callable[[Path], None], shell: str, tmp_path: Path
) -> None:
    log = tmp_path / "log.db"
    make(log)
    before = sorted(path.name for path in tmp_path.iterdir())

    done = ask("tool-call 1 ", log, shell)

    assert (done.stdout.strip(), done.stderr) == ("", "")
    assert sorted(path.name for path in tmp_path.iterdir()) == before


def test_a_locked_log_gives_nothing_and_is_not_waited_for(tmp_path: Path) -> None:
    log = put(tmp_path / "log.db", V1)
    with closing(sqlite3.connect(log, isolation_level=None)) as db:
        db.execute("SELECT * FROM connections").fetchall()  # makes the -shm, which shows the lock
        db.execute("PRAGMA locking_mode = EXCLUSIVE")
        db.execute("BEGIN EXCLUSIVE")
        db.execute("UPDATE connections SET label = 'x'")
        assert os.path.exists(f"{log}-shm")

        done = ask("tool-call 1 ", log)

    assert (done.stdout.strip(), done.stderr) == ("", "")
    assert list(offered("tool-call 1 ", log)) == ["c1"]


def test_completing_leaves_no_trace(log: Path, tmp_path: Path) -> None:
    with closing(sqlite3.connect(log)) as db:
        db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    copy = tmp_path / "log.db"
    shutil.copy(log, copy)
    trusted(copy)
    folder = (copy.stat().st_mtime_ns, tmp_path.stat().st_mtime_ns)

    assert list(offered("tool-call 1 ", copy)) == ["c1"]
    assert [path.name for path in tmp_path.iterdir()] == ["log.db"]
    assert (copy.stat().st_mtime_ns, tmp_path.stat().st_mtime_ns) == folder


def test_a_pipe_on_the_line_is_not_opened(log: Path, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")

    assert list(offered(f"import {tmp_path}/pipe --js", log)) == ["--json"]


def test_what_is_in_the_write_ahead_log_is_offered_too(tmp_path: Path) -> None:
    log = put(tmp_path / "log.db", V1)
    with closing(sqlite3.connect(log)) as db:  # while it is open nobody folds it into the log
        db.execute("SELECT * FROM connections").fetchall()
        put(log, V2)

        assert list(offered("messages ", log)) == ["latest", "2", "1"]


def test_short_names_of_agents_are_offered_where_run_takes_them(log: Path, tmp_path: Path) -> None:
    config = tmp_path / "config.toml"
    config.write_text('[agents]\nmine = "/bin/cat"\nmissing = "no-such-program"\n')
    goose = tmp_path / "goose"
    goose.touch(mode=0o755)
    settings = {"ACP_PROXY_CONFIG": str(config), "PATH": f"{tmp_path}:/bin"}

    found = offered("run ", log, **settings)

    assert list(found)[:2] == ["0", "mine"]  # the first lets the shell complete programs too
    assert found["goose"] == "goose"
    assert "missing" not in found
    assert list(offered("run go", log, **settings)) == ["0", "goose"]
    assert list(offered("run -- go", log, **settings)) == ["0"]
    config.write_text("x =")
    assert "goose" in offered("run ", log, **settings)


def test_a_question_that_makes_no_sense_gets_no_answer_and_no_message(log: Path) -> None:
    env = environment(ACP_PROXY_LOG=str(log), _ACP_PROXY_COMPLETE="bash_complete")
    env.pop("COMP_WORDS", None)

    done = subprocess.run([PROXY], env=env, check=False, capture_output=True, timeout=60)

    assert (done.returncode, done.stdout, done.stderr) == (1, b"", b"")
