"""No character that acts on a terminal, or that cannot be seen, reaches it: whatever it stands in."""

import json
import sqlite3
import unicodedata
from contextlib import closing
from pathlib import Path

import pytest
from click.testing import CliRunner

from acp_proxy.cli.commands import acp_proxy
from acp_proxy.views.safe_text import visible
from tests.cli.conversations import V1, put, update

INVISIBLE = "\xad\u034f\u061c\u115f\u1160\u17b4\u180b\u180e\u200b\u200e\u202e\u2028\u2029\u2060\u206a\u2800\u3164\ufe0f\ufeff\uffa0\U000e0101\U000e0041"
HOSTILE = f"x\x1b[2J\x1b]0;t\x07\x9b1A\r{INVISIBLE}z"
COMMANDS = [
    "connections", "messages", "tail", "show 3", "state", "sessions", "sessions --all", "tool-calls",
    "tool-call c1", "tool-call c1 --history", "permissions", "terminals", "pending", "stats", "timeline",
    "diff --at 1 --at -1", "transcript", "transcript --format markdown", "transcript --format html",
    "search two", "verify", "log info", "doctor --no-self-test", "export --jsonl", "prune 1", "compact 1",
]  # fmt: skip


def harmful(text: str) -> set[str]:
    """Return the characters of a text that act on a terminal, or have no shape."""
    return {
        character
        for character in text
        if character in INVISIBLE
        or (unicodedata.category(character) in ("Cc", "Cf", "Zl", "Zp") and character not in "\n\t")
    }


def said(*arguments: str, env: dict[str, str] | None = None) -> str:
    """Return all that a command writes, whatever its exit code is."""
    result = CliRunner(env=env).invoke(acp_proxy, [*arguments])
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result.output


def test_every_character_without_a_shape_is_shown_as_an_escape() -> None:
    unshown = [
        f"{code:04x}"
        for code in range(0x110000)
        if unicodedata.category(chr(code)) in ("Cc", "Cf", "Cs", "Zl", "Zp")
        and visible(chr(code)) == chr(code)
    ]

    assert unshown == []
    assert harmful(visible(HOSTILE)) == set()


@pytest.mark.parametrize("text", ["naïve", "日本", "👩🌾", "a\u0301"])
def test_what_has_a_shape_stays(text: str) -> None:
    assert visible(text) == text


def columns(log: Path) -> list[tuple[str, str]]:
    """Return the columns of all tables that hold text, as (table, column)."""
    with closing(sqlite3.connect(log)) as db:
        tables = [name for (name,) in db.execute(
            "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'search%' "
            "AND name NOT LIKE 'sqlite_%'"
        )]  # fmt: skip
        return [
            (table, column[1])
            for table in [*tables, "_sqlite_migrations"]
            for column in db.execute(f"PRAGMA table_info({table})")
            if column[2] in ("TEXT", "ANY")
        ]


@pytest.fixture(scope="module")
def log(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return put(tmp_path_factory.mktemp("harmless") / "log.db", V1)


def test_no_column_of_the_log_reaches_the_terminal_as_it_is(log: Path, tmp_path: Path) -> None:
    wrong = []
    for table, column in columns(log):
        copy = tmp_path / f"{table}-{column}.db"
        with closing(sqlite3.connect(log)) as db, closing(sqlite3.connect(copy)) as other:
            db.backup(other)
            crc = [
                row[1] for row in other.execute(f"PRAGMA table_info({table})") if row[1] == "crc"
            ]
            sets = ", ".join([f"{column} = ?", *(f"{name} = NULL" for name in crc)])
            text = json.dumps([HOSTILE], ensure_ascii=False) if column == "command" else HOSTILE
            try:
                other.execute(f"UPDATE OR REPLACE {table} SET {sets}", (text,))
            except sqlite3.IntegrityError:  # a column of numbers or of known words
                continue
            other.commit()
        for command in (
            COMMANDS if table in ("connections", "_sqlite_migrations") else COMMANDS[:14]
        ):
            words = [*command.split(), "--log", str(copy)]
            if found := harmful(said(*words)):
                wrong.append((table, column, command, ascii("".join(sorted(found)))))
        copy.unlink()
    assert wrong == []


@pytest.mark.parametrize("command", COMMANDS)
def test_nothing_that_peers_said_reaches_the_terminal_as_it_is(
    tmp_path: Path, command: str
) -> None:
    evil = [
        ("agent", update("agent_message_chunk", content={"type": "text", "text": HOSTILE})),
        ("agent", update("tool_call", toolCallId="c1", title=HOSTILE, kind=HOSTILE, rawInput=HOSTILE)),
        ("agent", update("plan", entries=[{"content": HOSTILE, "priority": "low", "status": HOSTILE}])),
        ("agent", {"jsonrpc": "2.0", "id": HOSTILE, "method": HOSTILE, "params": {HOSTILE: HOSTILE}}),
        ("stderr", HOSTILE.replace("\r", "")),
        ("agent", f"{{{HOSTILE}"),
    ]  # fmt: skip
    copy = put(tmp_path / "log.db", [*V1, *evil])

    assert harmful(said(*command.split(), "--log", str(copy))) == set()


@pytest.mark.parametrize(
    "words",
    [
        [HOSTILE], ["messages", HOSTILE], ["messages", f"--{HOSTILE}"], ["messages", "--kind", HOSTILE],
        ["show", HOSTILE], ["state", "--at", HOSTILE], ["tool-call", HOSTILE], ["import", HOSTILE],
        ["connections", "--log", HOSTILE], ["export", "--stream", HOSTILE], ["search", HOSTILE],
        ["prune", "--older-than", HOSTILE], ["config", HOSTILE], ["export", "--jsonl", "-o", f"/{HOSTILE}/x"],
        ["run", "--keep", HOSTILE, "--", "true"], ["terminal", HOSTILE], ["completion", HOSTILE],
        ["transcript", "--format", HOSTILE], ["agents", HOSTILE], ["log", HOSTILE],
    ],
)  # fmt: skip
def test_a_persons_own_words_come_back_harmless(log: Path, words: list[str]) -> None:
    assert harmful(said(*words, env={"ACP_PROXY_LOG": str(log)})) == set()


@pytest.mark.parametrize("name", ["ACP_PROXY_LOG", "ACP_PROXY_CONFIG", "ACP_PROXY_KEEP"])
def test_what_the_environment_says_comes_back_harmless(name: str, tmp_path: Path) -> None:
    value = str(tmp_path / HOSTILE)

    for command in ("connections", "log info", "config show", "doctor --no-self-test"):
        assert harmful(said(*command.split(), env={name: value})) == set(), command
