"""run --redact-at-rest: no secret reaches the log, whoever died; the traffic stays as it is."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from acp_proxy.recorder.blanking import Blanking
from acp_proxy.recording import open_recording
from acp_proxy.wire.framing import Frame
from tests.cli.commands import document, invoke
from tests.recorder.journals import append, begin
from tests.recorder.test_ingest import ingest_with_deaths, rows
from tests.redaction.secrets import SHAPES

if TYPE_CHECKING:
    from pathlib import Path


_TOKENS = [secret.secret for secret in SHAPES[:3]]
_WORDS = "Ab3" + "xYz9Q" * 4  # nothing gives it away but the place it stands in


def _lines() -> list[tuple[str, bytes]]:
    def line(stream: str, **message: Any) -> tuple[str, bytes]:
        return stream, json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n"

    servers = [{"name": "m", "command": "c", "env": [{"name": "API_KEY", "value": _WORDS}]}]
    text = {"type": "text", "text": f"use {_TOKENS[0]} and {_WORDS}"}
    update = {"sessionUpdate": "agent_message_chunk", "content": text}
    return [
        line("client", id=1, method="session/new", params={"cwd": "/", "mcpServers": servers}),
        line("agent", id=1, result={"sessionId": "s"}),
        ("stderr", f"token={_TOKENS[1]}\n".encode()),
        line("agent", method="session/update", params={"sessionId": "s", "update": update}),
        ("agent", f"not json {_TOKENS[2]}".encode()),
        ("client", b"{}\n"),
        ("agent", b" and its end\n"),
    ]


def _holds_none(log: Path) -> None:
    for path in log.parent.rglob("*"):
        if path.is_file():
            data = path.read_bytes()
            assert not [one for one in (*_TOKENS, _WORDS) if one.encode() in data], path


@pytest.mark.slow
@settings(
    suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=25
)
@given(st.lists(st.integers(0, 5), max_size=5), st.integers(1, 4))
def test_no_secret_is_stored_whoever_died(
    tmp_path_factory: pytest.TempPathFactory, deaths: list[int], batch: int
) -> None:
    folder = tmp_path_factory.mktemp("blanking")
    log, other = folder / "log.db", folder / "other.db"
    writer = begin(log, redact=1, command=["agent", "--api-key", _TOKENS[0]])
    append(writer, _lines())
    writer.close(0)

    ingest_with_deaths(writer.path, log, deaths, batch)
    ingest_with_deaths(writer.path, other, [])

    (folder / "log.db.journals").joinpath(writer.path).unlink()
    _holds_none(log)
    assert rows(log) == rows(other)
    with open_recording(log) as recording:
        assert recording.verify("latest") == []
        row = recording.connection()
        assert row.messages == 6
        [note] = row.notes
        assert note["event"] == "redacted"
        assert note["values"] >= 5
        assert row.command == ["agent", "--api-key", "[redacted]"]
        said = b"".join(recording.stream("latest", "agent"))
    assert b"use [redacted] and [redacted]" in said
    assert said.endswith(b"not json [redacted] and its end\n")


def test_why_an_agent_was_not_started_is_without_secrets_too(tmp_path: Path) -> None:
    log = tmp_path / "log.db"
    config = tmp_path / "config.toml"
    config.write_text('redact_at_rest = true\n[redaction]\ntexts = ["Falcon"]\n')
    words = [sys.executable, "-m", "acp_proxy", "run", "--log", str(log), "--", "/Falcon/agent"]
    env = {**os.environ, "ACP_PROXY_CONFIG": str(config)}

    assert subprocess.run(words, env=env, capture_output=True, check=False).returncode == 127

    [row] = document("connections", "--log", log)
    assert "/[redacted]/agent" in row["notes"][0]["why"]
    assert row["notes"][1] == {"event": "redacted", "values": 2}
    assert b"Falcon" not in log.read_bytes()


def test_a_line_too_long_to_be_looked_through_is_not_stored() -> None:
    blanking = Blanking({})

    first = blanking.blanked(1, Frame(0, _TOKENS[0].encode(), 10**9))
    second = blanking.blanked(1, Frame(10**9, b"short\n", 6))

    assert first == Frame(0, b"[redacted]\n", 11)
    assert second == Frame(11, b"short\n", 6)
    assert blanking.note() == {"event": "redacted", "values": 1}


def test_the_traffic_is_what_it_was(tmp_path: Path) -> None:
    log = tmp_path / "log.db"
    said = b"".join(raw for stream, raw in _lines() if stream == "client")
    words = [sys.executable, "-m", "acp_proxy", "run", "--log", str(log), "--redact-at-rest"]

    done = subprocess.run(
        [*words, "--", "cat"], input=said, capture_output=True, timeout=60, check=True
    )

    assert done.stdout == said
    assert done.stderr == b""
    assert document("connections", "--log", log)[0]["notes"][-1]["event"] == "redacted"
    _holds_none(log)
    assert "2 values blanked" in invoke("verify", "--log", log).stdout
