"""Target for import: any file is refused with a reason, or comes out again as it went in."""

from __future__ import annotations

import atexit
import json
import shutil
import tempfile
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from click.testing import CliRunner, Result
from hypothesis import strategies as st

from acp_proxy.cli.commands import acp_proxy
from tests.fuzz import conversations
from tests.fuzz.target import Target
from tests.strategies import mutations, object_texts, texts
from tests.trusting import trusted

if TYPE_CHECKING:
    from collections.abc import Iterator

_REFUSED = "acp-proxy: "


def check_import(data: bytes) -> None:
    """Import a file, export that, import the export, and export again: nothing changes."""
    log = _fresh_log()
    refused = _import(log, data)
    if refused is not None:
        assert refused.stderr.startswith(_REFUSED)
        assert "Traceback" not in refused.stderr
        assert not _run("connections", "--jsonl", log=log).stdout or "nothing" not in refused.stderr
        return
    first = _export(log)
    again = _import(log, first)
    assert again is None, "its own export is refused"
    assert _export(log) == first
    lines = first.split(b"\n")[1:-1]
    assert [json.loads(line)["seq"] for line in lines] == sorted(
        json.loads(line)["seq"] for line in lines
    )
    verified = _run("verify", log=log)
    assert verified.exit_code == 0, verified.output


def _import(log: Path, data: bytes) -> Result | None:
    """Import a file; return what was said when it was refused."""
    result = _run("import", "-", log=log, stdin=data)
    assert result.exit_code in {0, 1}, result.output
    return result if result.exit_code else None


def _export(log: Path) -> bytes:
    result = _run("export", "--jsonl", "--raw", log=log)
    assert result.exit_code == 0, result.output
    return result.stdout_bytes


def _run(*words: str, log: Path, stdin: bytes | None = None) -> Result:
    result = CliRunner().invoke(acp_proxy, [*words, "--log", str(log)], input=stdin)
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result


@cache
def _folder() -> Path:
    name = tempfile.mkdtemp(prefix="acp-proxy-fuzz-")
    atexit.register(shutil.rmtree, name, ignore_errors=True)
    _run("log", "migrate", log=Path(name) / "empty.db")
    return Path(name)


def _fresh_log() -> Path:
    """Return a log that holds nothing."""
    log = _folder() / "log.db"
    for suffix in ("-wal", "-shm"):
        Path(f"{log}{suffix}").unlink(missing_ok=True)
    shutil.copyfile(_folder() / "empty.db", log)
    return trusted(log)


def _inputs() -> st.SearchStrategy[bytes]:
    ends = st.sampled_from([{}, {"end": ""}, {"end": "\r\n"}, {"end": "\n"}, {"end": "x"}])
    times: st.SearchStrategy[dict[str, Any]] = st.sampled_from([
        {}, {"time": "2026-01-01T00:00:00Z", "elapsed_ns": 1}, {"elapsed_ns": 2**63}, {"time": 5},
        {"time": "1600-01-01T00:00:00+99:00"}, {"elapsed_ns": -1}, {"time": "2026-01-01T00:00:00.5Z"},
        {"time": "0001-01-01T00:00:00+01:00"}, {"elapsed_ns": None, "time": None},
    ])  # fmt: skip
    bodies = st.one_of(
        texts.map(lambda text: {"data": text}),
        object_texts().map(lambda text: {"data": text}),
        st.sampled_from([{"dataBase64": "AA=="}, {"dataBase64": "!"}, {"data": "\ud800"}, {}]),
    )
    streams = st.sampled_from(["client", "agent", "stderr", "agent", "nobody", None])
    said = st.tuples(streams, bodies, ends, times).map(
        lambda drawn: json.dumps({"from": drawn[0], **drawn[1], **drawn[2], **drawn[3]}).encode()
    )
    message = object_texts().map(lambda text: f'{{"from":"agent","message":{text}}}'.encode())
    header = object_texts().map(lambda text: f'{{"acp-proxy":1,"connection":{text}}}'.encode())
    known = st.sampled_from([
        b'{"acp-proxy":1}', b'{"acp-proxy":2}', b'{"acp-proxy":1,"connection":[]}', b"", b"{}",
        (b'{"acp-proxy":1,"connection":{"uuid":"0a1b2c3d-0001-4000-8000-00000000000a","label":"x",'
        b'"command":["a"],"started":"2026-03-01T09:00:00Z","duration_ns":9,"redacted":3}}'),
    ])  # fmt: skip
    line = said | said | message | mutations() | known
    return st.tuples(header | known, st.lists(line, max_size=6)).map(
        lambda drawn: b"\n".join([drawn[0], *drawn[1]])
    )


def _seeds() -> Iterator[bytes]:
    for name, lines in conversations.recordings():
        short = [(stream, raw) for stream, raw in lines if len(raw) < 600][:5]
        header = {"acp-proxy": 1, "connection": {"label": name, "command": ["a"], "cwd": "/"}}
        body = [{"from": stream, "data": raw.decode(errors="replace")} for stream, raw in short]
        yield b"\n".join(json.dumps(line).encode() for line in [header, *body])


IMPORT = Target(
    "import",
    "any file is refused with a reason, or is exported again so that importing that changes nothing",
    check_import,
    _inputs,
    _seeds,
)
