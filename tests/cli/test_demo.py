"""The demonstration: real peers over the real proxy, shown in full."""

from pathlib import Path

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
