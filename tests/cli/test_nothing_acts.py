"""Whatever a log, a file name, a setting or an argument holds, no output acts on a terminal or hides text."""

import json
import os
import pty
import re
import shutil
import sqlite3
import subprocess
import unicodedata
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from acp_proxy.cli.commands import acp_proxy
from acp_proxy.views.safe_text import visible
from tests.cli.conversations import V1, V2, put
from tests.cli.every import JSON_MODES, TEXT_MODES
from tests.harness import PROXY, environment

UNSEEN = (
    "\x1b[2J\x1b]0;t\x07\x9b31m\x00\r\x08\x7f\xad\u034f\u061c\u115f\u1160\u17b4\u180e\u200b\u200c\u200d\u200e\u200f"
    "\u2028\u2029\u202a\u202e\u2060\u2064\u2066\u206a\u206f\u2800\u3164\ufe00\ufe0f\ufeff\uffa0\ufff9"
    "\U000e0001\U000e0041\U000e0101"
)
HOSTILE = f"hidden {UNSEEN} end"
NAME = HOSTILE.replace("\0", "").replace("\r", "")
"""The same for names of files, variables and arguments."""
ESCAPE = Path("../shared/attacks/loginfo-escape.db")
SLOW = {"doctor", "compact", "vacuum"}


def harmful(text: str) -> set[str]:
    """Return what in an output must not be there."""
    return {
        hex(ord(x))
        for x in text
        if (x not in "\n\t" and visible(x) != x) or unicodedata.category(x) in {"Cf", "Cs"}
    }


def assert_harmless(log: Path, *, slow: bool = False) -> None:
    """Fail when any command's output holds what must not be there."""
    for words in (*TEXT_MODES, *JSON_MODES):
        if SLOW.isdisjoint(words) or slow:
            result = CliRunner().invoke(acp_proxy, [*words, "--log", str(log)])
            assert harmful(result.stdout + result.stderr) == set(), (words, result.output[:2000])
            assert result.exception is None or isinstance(result.exception, SystemExit), words


def poisoned(value: Any) -> Any:
    """Return a message in which each text a peer chooses freely holds what must not be seen."""
    if isinstance(value, dict):
        fixed = {
            "jsonrpc",
            "method",
            "sessionUpdate",
            "type",
            "kind",
            "status",
            "operation",
            "data",
        }
        return {key: item if key in fixed else poisoned(item) for key, item in value.items()} | (
            {f"key {HOSTILE}": HOSTILE} if "sessionUpdate" in value else {}
        )
    if isinstance(value, list):
        return [poisoned(item) for item in value]
    return (
        f"{value}{HOSTILE}"
        if isinstance(value, str) and value not in {"s", "c1", "term"}
        else value
    )


@pytest.mark.parametrize("conversation", [V1, V2])
def test_what_peers_say_is_harmless(tmp_path: Path, conversation: list[tuple[str, Any]]) -> None:
    said = [(who, f"{x}{HOSTILE}" if who == "stderr" else poisoned(x)) for who, x in conversation]
    said += [("agent", {"jsonrpc": "2.0", "method": f"m{HOSTILE}", HOSTILE: HOSTILE})]
    said += [("agent", {"jsonrpc": "2.0", "id": HOSTILE, "error": {"code": 1, "message": HOSTILE}})]

    assert_harmless(put(tmp_path / "log.db", said), slow=True)


def text_columns() -> Iterator[tuple[str, str]]:
    """Yield the tables and columns of a log in which a text may stand."""
    folder = Path(os.environ.get("TMPDIR", "/tmp")) / f"acp-columns-{os.getpid()}"
    folder.mkdir(exist_ok=True)
    try:
        with closing(sqlite3.connect(put(folder / "log.db", V1))) as db:
            tables = db.execute(
                "SELECT name FROM sqlite_schema WHERE type = 'table' AND sql LIKE 'CREATE TABLE%' "
                "AND name NOT LIKE 'search%'"
            ).fetchall()
            for (table,) in tables:
                for column in db.execute(f"PRAGMA table_xinfo({table})").fetchall():
                    if column[6] == 0 and "TEXT" in column[2].upper():
                        yield table, column[1]
    finally:
        shutil.rmtree(folder)


COLUMNS = list(text_columns())


def test_the_columns_are_found() -> None:
    assert ("connections", "label") in COLUMNS
    assert ("_sqlite_migrations", "name") in COLUMNS
    assert len(COLUMNS) > 40


@pytest.mark.parametrize(("table", "column"), COLUMNS)
def test_what_stands_in_any_column_is_harmless(tmp_path: Path, table: str, column: str) -> None:
    log = put(tmp_path / "log.db", V1)
    facts = json.dumps({"label": HOSTILE, HOSTILE: HOSTILE, "uuid": HOSTILE, "redacted": 1})
    notes = json.dumps([{"event": HOSTILE, "why": HOSTILE, HOSTILE: HOSTILE}], ensure_ascii=False)
    value = {"facts": facts, "notes": notes, "command": json.dumps([HOSTILE])}.get(column, HOSTILE)
    with closing(sqlite3.connect(log)) as db, db:
        try:
            db.execute(f"UPDATE OR IGNORE {table} SET {column} = ?", (value,))
        except sqlite3.IntegrityError:
            return  # the schema lets no such text in
    assert_harmless(log)


@pytest.mark.parametrize(
    "words",
    [
        [NAME],
        ["messages", NAME],
        ["show", NAME],
        ["show", "1", NAME],
        ["state", "--at", NAME],
        ["state", "--session", NAME],
        ["transcript", "--session", NAME],
        ["export", "--jsonl", "-o", f"/nowhere/{NAME}"],
        ["export", "--stream", NAME],
        ["import", NAME],
        ["connections", NAME],
        ["messages", f"--{NAME}"],
        ["messages", "--kind", NAME],
        ["messages", "--limit", NAME],
        ["prune", "--older-than", NAME],
        ["prune", NAME],
        ["tool-call", NAME],
        ["terminal", NAME],
        ["timeline", "--turn", NAME],
        ["diff", "--at", NAME, "--at", NAME],
        ["search", NAME],
        ["search", f'"{NAME}'],
        ["config", NAME],
        ["config", "zed", "--agent", NAME],
        ["log", NAME],
        ["completion", NAME],
        ["agents", NAME],
        ["compact", NAME],
        ["run", "--keep", NAME, "--", "true"],
        ["run", f"--{NAME}"],
        ["log", "path", "--log", NAME],
        ["connections", "--log", NAME],
        ["log", "info", "--log", f"/nowhere/{NAME}/log.db"],
    ],
)
@pytest.mark.parametrize("at_terminal", [False, True])
def test_a_persons_own_words_are_harmless(
    tmp_path: Path, words: list[str], at_terminal: bool
) -> None:
    log = put(tmp_path / "log.db", V1)
    env = environment(ACP_PROXY_LOG=str(log), TERM="dumb", NO_COLOR="1", COLUMNS="80")

    text = output_of([str(PROXY), *words], env, tmp_path, at_terminal=at_terminal)

    text = text.replace("\r\n", "\n")
    assert text or words[0] == "search"  # which may find nothing
    assert harmful(text) == set()
    assert "Traceback" not in text


@pytest.mark.parametrize("at_terminal", [False, True])
def test_names_of_files_and_settings_are_harmless(tmp_path: Path, at_terminal: bool) -> None:
    place = tmp_path / NAME.replace("/", "")
    place.mkdir()
    log = put(place / "log.db", V1)
    journals = place / "log.db.journals"
    journals.mkdir(mode=0o700, exist_ok=True)
    (journals / NAME.replace(".", "")).write_bytes(b"no journal")
    (journals / f"{NAME}.damaged").write_bytes(b"x")
    settings = place / "config.toml"
    settings.write_text(f"label = {json.dumps(HOSTILE)}\nlog = {json.dumps(str(log))}\n")
    for changes in ({"ACP_PROXY_CONFIG": str(settings)}, {"ACP_PROXY_LOG": str(log)}):
        env = environment(TERM="dumb", NO_COLOR="1", COLUMNS="80", **changes)
        for words in (
            ["log", "info"], ["log", "path"], ["doctor", "--no-self-test"], ["config", "show"],
            ["connections"], ["verify"], ["export", "--jsonl"],
        ):  # fmt: skip
            text = output_of([str(PROXY), *words], env, tmp_path, at_terminal=at_terminal)
            assert harmful(text.replace("\r\n", "\n")) == set(), words


@pytest.mark.skipif(not ESCAPE.exists(), reason="the shared files are not here")
def test_the_name_of_a_step_does_not_reach_the_terminal(tmp_path: Path) -> None:
    log = Path(shutil.copy(ESCAPE, tmp_path / "log.db"))

    assert_harmless(log, slow=True)
    result = CliRunner().invoke(acp_proxy, ["log", "info", "--log", str(log)])
    assert r"\e]0;PWNED\x07" in result.stdout


def output_of(words: list[str], env: dict[str, str], cwd: Path, *, at_terminal: bool) -> str:
    """Return what a command writes to stdout and stderr."""
    if not at_terminal:
        done = subprocess.run(
            words, env=env, cwd=cwd, capture_output=True, timeout=120, check=False,
            stdin=subprocess.DEVNULL,
        )  # fmt: skip
        return (done.stdout + done.stderr).decode()
    ours, theirs = pty.openpty()
    try:
        process = subprocess.Popen(
            words, env=env, cwd=cwd, stdin=subprocess.DEVNULL, stdout=theirs, stderr=theirs
        )
        os.close(theirs)
        output = b""
        while piece := _read(ours):
            output += piece
        assert process.wait(120) is not None
    finally:
        os.close(ours)
    return re.sub(rb"\r+\n", b"\n", output).decode()


def _read(fd: int) -> bytes:
    try:
        return os.read(fd, 65536)
    except OSError:  # how Linux tells the end of a terminal
        return b""
