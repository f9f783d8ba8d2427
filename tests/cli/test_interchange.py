"""export and import: of real captures, of anything, and what a wrong file is told."""

import base64
import json
from pathlib import Path

import pytest

from tests.cli.commands import document, invoke, objects
from tests.conftest import SHARED

CAPTURES = sorted(path.name for path in (SHARED / "captures").glob("*.jsonl")) or ["absent"]
EXACT = ("04", "05", "06", "07")


@pytest.mark.slow
@pytest.mark.parametrize("name", CAPTURES)
def test_a_capture_comes_out_as_it_went_in(captures: Path, name: str, tmp_path: Path) -> None:
    log = tmp_path / "log.db"
    given = [json.loads(line) for line in (captures / name).read_bytes().splitlines()]
    invoke("import", captures / name, "--log", log)
    first = invoke("export", "--jsonl", "--raw", "--log", log).stdout_bytes
    found = [json.loads(line) for line in first.splitlines()]

    assert found[0] == given[0]
    assert len(found) == len(given)
    for a, b in zip(given[1:], found[1:], strict=True):
        assert {**a, "time": ""} == {**b, "time": ""}
        assert b["time"].startswith(a["time"].rstrip("Z"))
    invoke("verify", "--log", log)
    for stream in ("client", "agent", "stderr"):
        expected = "".join(
            line["data"] + line["end"] for line in given[1:] if line["from"] == stream
        )
        result = invoke("export", "--stream", stream, "--log", log)
        assert result.stdout_bytes == expected.encode()
    again = tmp_path / "again.db"
    invoke("import", "-", "--log", again, stdin=first)
    assert invoke("export", "--jsonl", "--raw", "--log", again).stdout_bytes == first


def test_the_exact_captures_have_stderr(captures: Path) -> None:
    names = [path.name for path in captures.glob("*.jsonl") if path.name.startswith(EXACT)]

    assert len(names) == len(EXACT)
    assert all('"from": "stderr"' in (captures / name).read_text() for name in names)


def test_the_known_oddities_of_a_capture_are_flagged(captures: Path, tmp_path: Path) -> None:
    log = tmp_path / "log.db"
    [capture] = captures.glob("02-*")
    invoke("import", capture, "--log", log)
    odd = {row["seq"]: row for row in objects("messages", "--odd", "--log", log)}
    everything = objects("messages", "--log", log)

    from_client = [row["seq"] for row in everything if row["from"] == "client"]
    assert [seq for seq, row in odd.items() if "extra-key" in row["flags"]] == from_client
    assert [seq for seq, row in odd.items() if "early" in row["flags"]] == [4, 5]
    calls = [row["seq"] for row in everything if row.get("sessionUpdate") == "tool_call"]
    assert [seq for seq, row in odd.items() if "no-status" in row["flags"]] == calls
    assert len(calls) == 12
    late = {row["toolCallId"] for row in odd.values() if "after-final" in row["flags"]}
    assert late == {row["toolCallId"] for row in everything if "toolCallId" in row}


def test_bytes_that_are_no_text_survive(tmp_path: Path) -> None:
    raw = bytes(set(range(256)) - {10})
    line = {"from": "agent", "dataBase64": base64.b64encode(raw).decode(), "end": "\r\n"}
    invoke("import", "-", "--log", tmp_path / "log.db", stdin=json.dumps(line).encode())

    assert invoke("export", "--stream", "agent", "--log", tmp_path / "log.db").stdout_bytes == (
        raw + b"\r\n"
    )


def test_only_from_and_data_are_needed(tmp_path: Path) -> None:
    log = tmp_path / "log.db"
    invoke("import", "-", "--log", log, stdin=b'{"from":"client","message":{ "id" : 1.0 }}\n\n')

    lines = invoke("export", "--jsonl", "--raw", "--log", log).stdout.splitlines()
    assert json.loads(lines[1]) == {"seq": 1, "from": "client", "data": '{"id":1.0}', "end": "\n"}


@pytest.mark.parametrize(
    ("line", "reason"),
    [(b"nonsense", "not JSON"), (b'{"from":"me","data":""}', "must be client, agent or stderr")],
)
def test_of_a_wrong_file_nothing_is_imported(tmp_path: Path, line: bytes, reason: str) -> None:
    log = tmp_path / "log.db"
    good = b'{"from":"client","data":"x"}\n'

    result = invoke("import", "-", "--log", log, stdin=good * 3 + line + b"\n" + good, code=1)

    assert "line 4" in result.stderr
    assert reason in result.stderr
    assert "nothing was imported" in result.stderr
    assert document("connections", "--log", log) == []


def test_a_connection_keeps_its_uuid_where_it_is_free(tmp_path: Path) -> None:
    log, other = tmp_path / "log.db", tmp_path / "other.db"
    invoke("import", "-", "--log", log, stdin=b'{"from":"client","data":"x"}\n')
    exported = invoke("export", "--jsonl", "--raw", "--log", log).stdout_bytes
    [row] = document("connections", "--log", log)

    invoke("import", "-", "--log", other, stdin=exported)
    assert document("connections", "--log", other)[0]["uuid"] == row["uuid"]
    again = invoke("import", "-", "--log", log, stdin=exported)
    assert "new uuid" in again.stderr
    assert document("connections", "--log", log)[0]["uuid"] != row["uuid"]


def test_export_writes_files_and_wants_one_form(tmp_path: Path) -> None:
    log = tmp_path / "log.db"
    invoke("import", "-", "--log", log, stdin=b'{"from":"client","data":"x"}\n')

    invoke("export", "--stream", "client", "-o", tmp_path / "out", "--log", log)
    assert (tmp_path / "out").read_bytes() == b"x\n"
    invoke("export", "--log", log, code=2)
    invoke("export", "--jsonl", "--stream", "agent", "--log", log, code=2)
    invoke("export", "9", "--stream", "client", "-o", tmp_path / "none", "--log", log, code=1)
    assert not (tmp_path / "none").exists()
