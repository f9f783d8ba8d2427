"""The demonstration: real peers over the real proxy, shown in full."""

import subprocess
import sys
from pathlib import Path

import pytest

from acp_proxy import demo
from tests.cli.commands import document, invoke, objects


def test_the_demonstration_records_what_it_shows(tmp_path: Path) -> None:
    log = tmp_path / "log.db"

    shown = invoke("demo", "--log", log).stdout

    [row] = document("connections", "--log", log)
    assert (row["client"]["name"], row["agent"]["name"]) == ("demo-client", "demo-agent")
    assert (row["status"], row["exitCode"], row["label"]) == ("exited", 0, "demo")
    messages = objects("messages", "--log", log)
    assert [message["flags"] for message in messages] == [[]] * len(messages)
    methods = [message["method"] for message in messages if message["kind"] == "request"]
    assert methods == ["initialize", "session/new", "session/prompt", "session/request_permission"]
    assert all(f"\n{message['seq']:>3}  " in shown for message in messages)
    assert "Try next:" in shown
    invoke("verify", "--log", log)


@pytest.mark.slow
def test_a_demonstration_that_hangs_can_be_found_out(tmp_path: Path) -> None:
    log = tmp_path / "log.db"

    invoke("demo", "--hang", "--log", log)

    [row] = document("connections", "--log", log)
    assert (row["status"], row["signal"]) == ("killed", 15)
    pending = invoke("pending", "--log", log).stdout
    assert "left 1 request of the client unanswered (session/prompt)" in pending
    assert "tool call call-1 in_progress" in pending
    assert "demo agent: waiting for the database" in pending
    [turn] = [
        line for line in invoke("timeline", "--log", log).stdout.splitlines() if line[:4] == "turn"
    ][1:]
    assert turn.endswith("running")
    [took] = [word for word in turn.split() if word.endswith("s") and word[0].isdigit()]
    assert float(took.removesuffix("s")) >= 1  # the second in which the client waited is in it


SLOW = """
import json, sys, time
results = {"session/new": {"sessionId": "s"}, "session/prompt": {"stopReason": "end_turn"}}
for line in sys.stdin:
    request = json.loads(line)
    if request["method"] == "session/prompt":
        time.sleep(1.5)
    result = results.get(request["method"], {})
    print(json.dumps({"jsonrpc": "2.0", "id": request["id"], "result": result}), flush=True)
"""


@pytest.mark.slow
def test_an_agent_on_a_busy_machine_is_waited_for() -> None:
    client = Path(demo.__file__).with_name("client.py")
    command = [sys.executable, str(client), sys.executable, "-c", SLOW]
    done = subprocess.run(command, capture_output=True, timeout=60, check=True)
    assert done.stdout.endswith(b"  turn ended:  end_turn\n")
