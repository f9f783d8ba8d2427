"""Transcripts of long connections: what was said is never all in memory."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.conversations import update
from tests.cli.transcripts import imported

_CALLS = 700
_TEXT = "what was said, and said again " * 2000  # 60,000 characters
_LIMIT = 80 * 1024  # KiB
_MEASURED = """
import sys
from pathlib import Path
from acp_proxy.cli.commands import acp_proxy
acp_proxy(sys.argv[1:], standalone_mode=False)
[peak] = [line for line in Path("/proc/self/status").read_text().splitlines() if "VmHWM" in line]
print(peak.split()[1])
"""


@pytest.mark.slow
def test_a_connection_is_told_in_less_memory_than_it_has_content(tmp_path: Path) -> None:
    if not Path("/proc/self/status").exists():
        pytest.skip("only Linux tells the peak of a process that was forked")
    file = tmp_path / "long.jsonl"
    with file.open("w") as out:
        for number in range(_CALLS):
            item = {"type": "content", "content": {"type": "text", "text": f"{number} {_TEXT}"}}
            call = update(
                "tool_call", toolCallId=str(number), title="t", content=[item], rawInput=_TEXT
            )
            message = update("agent_message_chunk", content={"type": "text", "text": _TEXT})
            for one in (call, message):
                out.write(json.dumps({"from": "agent", "message": one}) + "\n")
    assert 2 * 3 * _CALLS * len(_TEXT) > 3 * _LIMIT * 1024
    log = imported(tmp_path / "log.db", file)
    file.unlink()

    for form in ("text", "html"):
        command = ["transcript", "--raw", "--log", str(log), "--format", form, "-o", os.devnull]
        done = subprocess.run(
            [sys.executable, "-c", _MEASURED, *command],
            capture_output=True, check=True, timeout=300, env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        )  # fmt: skip
        assert int(done.stdout) < _LIMIT, form
