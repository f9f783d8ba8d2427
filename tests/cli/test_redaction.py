"""What is made to be shared holds no secret, says so, and is told from the true bytes later."""

import base64
import json
from pathlib import Path
from typing import Any

import pytest

from tests.cli.commands import document, invoke
from tests.redaction.leaks import everything, fragments, left
from tests.redaction.places import PLACES, Frames, blanket
from tests.redaction.secrets import SECRETS, SHAPES

_TOKEN = next(secret.secret for secret in SHAPES if secret.label == "GitHub personal")


def _import(log: Path, frames: Frames, **facts: Any) -> None:
    lines = [json.dumps({"acp-proxy": 1, "connection": facts}).encode()]
    for stream, raw in frames:
        data = base64.b64encode(raw.removesuffix(b"\n")).decode()
        lines.append(json.dumps({"from": stream, "dataBase64": data}).encode())
    invoke("import", "-", "--log", log, stdin=b"\n".join(lines))


def _frames(export: bytes) -> list[bytes]:
    found = []
    for line in export.splitlines()[1:]:
        frame = json.loads(line)
        data = frame.get("data")
        body = base64.b64decode(frame["dataBase64"]) if data is None else data.encode()
        found.append(body + frame["end"].encode())
    return found


@pytest.mark.slow
@pytest.mark.parametrize("place", PLACES)
def test_no_secret_is_in_an_export(tmp_path: Path, place: str) -> None:
    """Each place with a third of the secrets; tests/redaction has each with each."""
    log = tmp_path / "log.db"
    some = SECRETS[list(PLACES).index(place) % 3 :: 3]
    _import(log, [frame for secret in some for frame in PLACES[place](secret.text)])

    result = invoke("export", "--jsonl", "--log", log)

    frames = _frames(result.stdout_bytes)
    said = everything(frames)
    for secret in some:  # in longer pieces: what begins one secret may stand before another
        assert not {piece for piece in fragments(secret.secret, 12) if piece in said}, secret.label
    values = json.loads(result.stdout_bytes.splitlines()[0])["connection"]["redacted"]
    assert values >= len(some)
    assert f"{values} values blanked" in result.stderr


def test_raw_blanks_nothing_and_says_so(tmp_path: Path) -> None:
    log = tmp_path / "log.db"
    frames = PLACES["prompt"](_TOKEN)
    _import(log, frames)

    result = invoke("export", "--jsonl", "--raw", "--log", log)

    assert _frames(result.stdout_bytes) == [raw for _, raw in frames]
    assert "redacted" not in result.stdout
    assert "nothing was blanked" in result.stderr


def test_an_export_without_a_secret_is_the_same_as_with_raw(tmp_path: Path) -> None:
    log = tmp_path / "log.db"
    _import(log, PLACES["prompt"]("nothing"), label="a  b")

    result = invoke("export", "--jsonl", "--log", log)

    assert result.stdout_bytes == invoke("export", "--jsonl", "--raw", "--log", log).stdout_bytes
    assert "0 values blanked" in result.stderr


def test_the_command_line_is_blanked_and_known(tmp_path: Path) -> None:
    log = tmp_path / "log.db"
    key = "Pq9-violet-44x"
    _import(log, PLACES["stderr"](f"using {key}"), command=["agent", "--api-key", key], label="x")

    lines = invoke("export", "--jsonl", "--log", log).stdout.splitlines()

    assert json.loads(lines[0])["connection"] == {
        "command": ["agent", "--api-key", "[redacted]"], "label": "x", "redacted": 2,
    }  # fmt: skip
    assert key not in lines[1]


def test_blanked_frames_are_told_from_true_ones_after_an_import(tmp_path: Path) -> None:
    log, other = tmp_path / "log.db", tmp_path / "other.db"
    _import(log, PLACES["prompt"](_TOKEN))
    exported = invoke("export", "--jsonl", "--log", log).stdout_bytes

    invoke("import", "-", "--log", other, stdin=exported)

    [row] = document("connections", "--log", other)
    assert row["notes"] == [{"event": "redacted", "values": 1}]
    told = invoke("verify", "--log", other).stdout
    assert "all is well" in told
    assert "connection 1: 1 value blanked in what was recorded" in told
    assert document("verify", "--log", other)["redacted"] == [{"connection": "1", "values": 1}]
    assert document("verify", "--log", log)["redacted"] == []
    assert invoke("export", "--jsonl", "--log", other).stdout_bytes == exported
    assert invoke("export", "--jsonl", "--raw", "--log", other).stdout_bytes == exported


@pytest.mark.parametrize("told", [-1, 1.5, "3", True, None, 10**30])
def test_a_wrong_number_in_a_header_is_no_number(tmp_path: Path, told: object) -> None:
    log = tmp_path / "log.db"
    _import(log, PLACES["prompt"](_TOKEN), redacted=told)

    assert document("connections", "--log", log)[0]["notes"] == []
    lines = invoke("export", "--jsonl", "--log", log).stdout.splitlines()
    assert json.loads(lines[0])["connection"] == {"redacted": 1}


def test_what_was_blanked_before_counts_too(tmp_path: Path) -> None:
    log = tmp_path / "log.db"
    _import(log, PLACES["prompt"](_TOKEN), redacted=4, label="x")

    lines = invoke("export", "--jsonl", "--log", log).stdout.splitlines()

    assert json.loads(lines[0])["connection"] == {"label": "x", "redacted": 5}


@pytest.mark.parametrize("form", [(), ("--json",), ("--raw",)])
def test_show_blanks_what_is_to_be_shared(tmp_path: Path, form: tuple[str, ...]) -> None:
    log = tmp_path / "log.db"
    frames = [*dict(blanket(_TOKEN))["env of an MCP server"], *PLACES["error"](f"see {_TOKEN}")]
    _import(log, frames)

    for seq in (1, 2):
        plain = invoke("show", seq, *form, "--log", log)
        shared = invoke("show", seq, "--share", *form, "--log", log)

        assert _TOKEN in plain.stdout
        assert left(_TOKEN, [shared.stdout_bytes]) == set()
        assert "[redacted]" in shared.stdout
        assert "blanked" in shared.stderr
