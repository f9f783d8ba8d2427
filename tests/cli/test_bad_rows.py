"""A row that can never have been written is shown as such, spoils nothing else, and can be deleted."""

import contextlib
import json
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from acp_proxy.cli.commands import acp_proxy
from acp_proxy.wire.shallow import MAX_DEPTH, depth_of, shallow_json
from tests.cli.commands import document, invoke
from tests.cli.conversations import V1, put
from tests.cli.every import JSON_MODES, TEXT_MODES

DEPTHS = [MAX_DEPTH + 1, 200, 980, 1100, 100_000]
POISON = Path("../shared/attacks/import-poison.jsonl")


def nested(kind: str, depth: int) -> str:
    """Return JSON text nested so deep, of one kind or of all."""
    opening, closing_ = {
        "arrays": ("[", "]"),
        "objects": ('{"x":', "}"),
        "mixed": ('[{"x":', "}]"),
    }[kind]
    times = depth // 2 if kind == "mixed" else depth
    inside = "1" if kind == "objects" else "" if kind == "arrays" else "1"
    return opening * times + inside + closing_ * times


def assert_no_command_breaks(log: Path, modes: tuple[tuple[str, ...], ...]) -> None:
    for words in modes:
        result = CliRunner().invoke(acp_proxy, [*words, "--log", str(log)])
        assert result.exception is None or isinstance(result.exception, SystemExit), (
            words,
            result.exception,
        )
        assert result.exit_code in {0, 1}, (words, result.output)


def change(log: Path, sql: str, *values: object) -> None:
    with closing(sqlite3.connect(log)) as db, db:
        db.execute(sql, values)


@pytest.mark.parametrize("depth", DEPTHS)
@pytest.mark.parametrize("kind", ["arrays", "objects", "mixed"])
@pytest.mark.parametrize(
    "member", ["label", "command", "cwd", "host", "uuid", "started", "redacted", "gaps", "extra"]
)
def test_a_header_that_is_nested_deep_is_refused(
    tmp_path: Path, member: str, kind: str, depth: int
) -> None:
    header = f'{{"acp-proxy": 1, "connection": {{"{member}": {nested(kind, depth)}}}}}'
    file = f'{header}\n{{"from":"client","data":"x"}}\n'.encode()

    stderr = invoke("import", "-", "--log", tmp_path / "log.db", stdin=file, code=1).stderr

    assert "nothing was imported" in stderr
    assert "nested" in stderr
    assert not (tmp_path / "log.db").exists()


@pytest.mark.skipif(not POISON.exists(), reason="the shared files are not here")
def test_the_file_that_broke_every_command_is_refused(tmp_path: Path) -> None:
    stderr = invoke("import", POISON, "--log", tmp_path / "log.db", code=1).stderr

    assert "the header" in stderr
    assert "nothing was imported" in stderr


def test_a_header_that_is_nested_a_little_comes_out_as_it_went_in(tmp_path: Path) -> None:
    facts = f'{{"extra": {nested("mixed", MAX_DEPTH - 2)}}}'
    file = f'{{"acp-proxy": 1, "connection": {facts}}}\n{{"from":"client","data":"x"}}\n'
    invoke("import", "-", "--log", tmp_path / "log.db", stdin=file.encode())

    assert_no_command_breaks(tmp_path / "log.db", TEXT_MODES + JSON_MODES)
    out = invoke("export", "--jsonl", "--raw", "--log", tmp_path / "log.db").stdout
    assert json.loads(out.splitlines()[0])["connection"] == json.loads(facts)


@pytest.mark.parametrize("depth", [200, 980, 1020, 5000])
@pytest.mark.parametrize("kind", ["arrays", "objects", "mixed"])
@pytest.mark.parametrize("member", ["from", "end", "time", "elapsed_ns", "data", "message"])
def test_a_line_that_is_nested_deep_imports_or_is_refused_and_breaks_nothing(
    tmp_path: Path, member: str, kind: str, depth: int
) -> None:
    line = {"from": '"agent"', "data": '"x"', member: nested(kind, depth)}
    if member == "message":
        del line["data"]
    text = "{" + ",".join(f'"{name}":{value}' for name, value in line.items()) + "}\n"
    log = tmp_path / "log.db"

    result = CliRunner().invoke(acp_proxy, ["import", "-", "--log", str(log)], input=text.encode())

    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    if result.exit_code == 0:
        assert member == "message"
        assert_no_command_breaks(log, (("messages",), ("transcript",), ("verify",), ("show", "1")))


@pytest.mark.parametrize(
    ("column", "kind"),
    [("facts", "mixed"), ("notes", "arrays"), ("gaps", "objects"), ("command", "arrays")],
)
def test_a_stored_row_that_is_nested_deep_is_shown_and_can_be_deleted(
    tmp_path: Path, column: str, kind: str
) -> None:
    log = put(put(tmp_path / "log.db", V1), V1)
    text = nested(kind, 980)
    if column == "facts":
        text = f'{{"x": {text}}}'
    change(log, f"UPDATE connections SET {column} = ? WHERE id = 1", text)

    assert_no_command_breaks(log, TEXT_MODES[:-2])
    bad, good = sorted(document("connections", "--log", log), key=lambda row: row["id"])
    assert (bad["unreadable"], bad["frames"]) == ([column], 17)
    assert good["unreadable"] == []
    assert f"unreadable: {column}" in invoke("connections", "--log", log).stdout
    for words in (("log", "info"), ("verify",)):
        output = CliRunner().invoke(acp_proxy, [*words, "--log", str(log)]).output
        assert f"of connection 1 cannot be read: {column}" in output
    invoke("prune", "1", "--yes", "--log", log)
    assert "all is well: 1 connection" in invoke("verify", "--log", log).stdout


WRONG: list[Any] = [
    "text",
    b"\xff\x00",
    2**62,
    -1,
    1.5,
    "9" * 5000,
    "[[[[",
    '{"a":1}',
    "[1]",
    "null",
]
COLUMNS = [
    "uuid",
    "label",
    "command",
    "cwd",
    "host",
    "proxy_pid",
    "agent_pid",
    "recorded_by",
    "added_ns",
    "started_ns",
    "ended_ns",
    "duration_ns",
    "exit_code",
    "signal",
    "protocol_version",
    "client_name",
    "agent_version",
    "frames",
    "messages",
    "client_bytes",
    "agent_sha256",
    "gaps",
    "notes",
    "facts",
    "journal_position",
    "crc",
    "derived",
]


@pytest.mark.parametrize("column", COLUMNS)
def test_any_value_in_any_column_breaks_nothing_and_can_be_deleted(
    tmp_path: Path, column: str
) -> None:
    log = put(put(tmp_path / "log.db", V1), V1)
    quick = (("connections",), ("connections", "--json"), ("log", "info"), ("verify",))
    for value in WRONG:
        try:
            change(log, f"UPDATE connections SET {column} = ? WHERE id = 1", value)
        except sqlite3.IntegrityError:  # the schema has none of it
            continue
        assert_no_command_breaks(
            log, (*quick, ("prune", "--older-than", "1d"), ("sessions", "--all"))
        )
        assert_no_command_breaks(log, (("messages", "1"), ("state", "1"), ("transcript", "1")))

    with contextlib.suppress(sqlite3.IntegrityError):  # no text at all
        change(log, f"UPDATE connections SET {column} = CAST(x'ff41' AS TEXT) WHERE id = 1")
        assert_no_command_breaks(log, (*quick, ("prune", "--older-than", "1d")))
    invoke("prune", "1", "--yes", "--log", log)
    assert [row["id"] for row in document("connections", "--log", log)] == [2]


def test_depth_is_that_of_brackets_outside_strings() -> None:
    assert depth_of(r'{"a\"[[[": ["]]", {}], "b\\": [[]]}') == 3
    assert depth_of('["unfinished [[[') == 1
    assert shallow_json('{"a": "[[["}') == {"a": "[[["}
    for wrong in ("", "{", b"\xff", nested("arrays", MAX_DEPTH + 1), "9" * 5000):
        with pytest.raises(ValueError, match=r"."):
            shallow_json(wrong)
