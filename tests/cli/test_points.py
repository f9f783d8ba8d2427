"""``--at``: a seq, a count from the end, a time."""

import json
from pathlib import Path

import pytest

from acp_proxy.recording import open_recording
from tests.cli.commands import document, invoke
from tests.cli.conversations import V1, put, request


@pytest.fixture
def log(tmp_path: Path) -> Path:
    return put(tmp_path / "log.db", V1)


@pytest.mark.parametrize(
    ("point", "seq"),
    [
        ("1", 1), ("17", 17), ("-0", 17), ("-3", 14), ("0.1", 1), ("0.1999", 1), ("1.", 10),
        ("1s", 10), ("0.95s", 9), ("90s", 17), ("2026-01-02T03:04:05Z", 5),
        ("2026-01-02T03:04:05.999999999Z", 5), ("2026-01-02T04:04:06+01:00", 6),
        ("2027-01-01T00:00:00Z", 17),
    ],
)  # fmt: skip
def test_a_point_stands_for_a_message(log: Path, point: str, seq: int) -> None:
    assert document("state", "--log", log, "--at", point)["at"] == seq


@pytest.mark.parametrize("point", ["0", "18", "-17", "0s", "0.09", "2025-12-31T00:00:00Z"])
def test_a_point_outside_is_refused(log: Path, point: str) -> None:
    said = invoke("state", "--log", log, "--at", point, code=1).stderr

    assert said == f'acp-proxy: connection 1 has no message at "{point}"; it has 1 to 17\n'


@pytest.mark.parametrize("point", ["soon", "1e3", "", "--1", "2026-01-02T03:04:05", "1.5m"])
def test_what_is_no_point_is_told_how_to_be_one(log: Path, point: str) -> None:
    assert (
        "is no point: give a SEQ" in invoke("state", "--log", log, f"--at={point}", code=1).stderr
    )


def test_a_time_in_a_connection_without_times_is_refused(tmp_path: Path) -> None:
    line = json.dumps({"from": "client", "message": request(0, "initialize")}).encode()
    invoke("import", "-", "--log", tmp_path / "log.db", stdin=line)

    for point in ("1s", "2026-01-02T03:04:05Z"):
        said = invoke("state", "--log", tmp_path / "log.db", "--at", point, code=1).stderr
        assert "has no such times; give a SEQ" in said


def test_a_time_takes_all_members_of_a_batch(tmp_path: Path) -> None:
    batch = [request(0, "a"), request(1, "b")]
    log = put(tmp_path / "log.db", [("client", batch), ("client", request(2, "c"))])

    with open_recording(log) as recording:
        assert [recording.resolve(1, point) for point in ("0.1", "0.2", 2)] == [2, 3, 2]
