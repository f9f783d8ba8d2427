"""What is not what was recorded is never shown as if it were."""

import json
import random
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from acp_proxy import open_recording
from acp_proxy.errors import LogError
from acp_proxy.log import blobs, checksums
from acp_proxy.wire.jsonrpc import MAX_PARSED
from tests.cli.commands import invoke

FLIPS = [
    "UPDATE frames SET raw = CAST(replace(raw, 'a', 'b') AS BLOB) WHERE seq = 2",
    "UPDATE frames SET offset = offset | 4096 WHERE seq = 2",
    "UPDATE frames SET time_ns = 1 WHERE seq = 2",
    "UPDATE frames SET elapsed_ns = 1 << 40 WHERE seq = 2",
    "UPDATE frames SET stream_code = 0 WHERE seq = 2",
    "UPDATE frames SET crc = crc + 1 WHERE seq = 2",
]


def _line(who: str, data: str) -> bytes:
    return json.dumps({"from": who, "data": data}).encode() + b"\n"


@pytest.fixture
def log(tmp_path: Path) -> Path:
    lines = [_line("client", '{"a":1}'), _line("agent", '{"a":22}'), _line("client", '{"a":333}')]
    invoke("import", "-", "--log", tmp_path / "log.db", stdin=b"".join(lines))
    return tmp_path / "log.db"


def _change(log: Path, sql: str) -> None:
    with closing(sqlite3.connect(log)) as db, db:
        assert db.execute(sql).rowcount == 1


@pytest.mark.parametrize("flip", FLIPS)
def test_a_damaged_frame_is_refused_and_told(log: Path, flip: str) -> None:
    _change(log, flip)

    for command in (
        "messages",
        "show 2",
        "transcript",
        "state",
        "export --jsonl",
        "tail",
        "terminals",
    ):
        done = invoke(*command.split(), "--log", log, code=1)
        assert "frame 2 of connection 1 is not what was recorded" in done.stderr, command
        assert "acp-proxy verify" in done.stderr
    assert "frame 2: is not what was recorded" in invoke("verify", "--log", log, code=1).stdout


def test_what_is_around_it_can_be_read_and_the_rest_is_mended(log: Path) -> None:
    _change(log, FLIPS[0])

    with open_recording(log) as recording:
        assert recording.message(1, 1).raw == b'{"a":1}\n'
        assert recording.message(1, 3).raw == b'{"a":333}\n'
    _change(log, "UPDATE messages SET bytes = 7 WHERE seq = 3")
    invoke("log", "reindex", "--log", log)
    assert "message 3" not in invoke("verify", "--log", log, code=1).stdout


@pytest.mark.slow
@pytest.mark.skipif(not blobs.INCREMENTAL, reason="this SQLite has long frames in packs")
def test_a_long_frame_is_refused_at_its_end(tmp_path: Path) -> None:
    log = tmp_path / "log.db"
    invoke("import", "-", "--log", log, stdin=_line("agent", "x" * (MAX_PARSED + 1)))
    with open_recording(log) as recording:
        whole = b"".join(recording.message_bytes(recording.message(1, 1)))
    with closing(sqlite3.connect(log)) as db, db, db.blobopen("frames", "raw", 1 << 32 | 1) as blob:
        blob.seek(MAX_PARSED // 2)
        blob.write(b"y")

    with open_recording(log) as recording:
        pieces = recording.message_bytes(recording.message(1, 1))
        seen = [next(pieces) for _ in range(-(-len(whole) // (1 << 20)))]
        with pytest.raises(LogError, match="frame 1 of connection 1 is not"):
            next(pieces)
    assert len(b"".join(seen)) == len(whole)


def test_a_frame_of_an_older_log_has_no_checksum_and_is_believed(log: Path) -> None:
    _change(log, "UPDATE frames SET crc = NULL WHERE seq = 2")

    assert "all is well" in invoke("verify", "--log", log).stdout
    invoke("messages", "--log", log)


def test_each_bit_counts() -> None:
    dice = random.Random(7)
    for _ in range(200):
        row = [dice.getrandbits(62), dice.randrange(3), *(dice.getrandbits(60) for _ in range(3))]
        raw = dice.randbytes(40)
        right = _stored(row, raw)
        place, bit = dice.randrange(5), 1 << dice.randrange(62)
        row[place] ^= bit
        assert _stored(row, raw) != right
        row[place] ^= bit
        assert _stored(row, bytes([raw[0] ^ 1 << dice.randrange(8)]) + raw[1:]) != right
        assert -(2**31) <= right < 2**31


def _stored(row: list[int], raw: bytes) -> int:
    return checksums.finished(checksums.add(raw, checksums.of_frame(*row)))
