"""What a message means, as show tells it."""

from pathlib import Path

from tests.cli.commands import document, invoke
from tests.cli.conversations import EVIL, V1, V2, put, update


def told(log: Path, seq: int) -> list[str]:
    """Return the lines of a message's page about its events."""
    lines = invoke("show", seq, "--log", log).stdout.splitlines()
    return [line for line in lines if line.startswith(("event:", "note:"))]


def test_the_events_of_a_message_are_told_with_their_notes(tmp_path: Path) -> None:
    odd = update("tool_call_update", toolCallId="c1", title=7, kind="dig", status="failed")
    log = put(tmp_path / "log.db", [*V1, ("agent", odd)])

    assert told(log, 7) == ["event:      ToolCallUpdated", "event:      PermissionRequested"]
    assert told(log, 18) == [
        "event:      ToolCallUpdated",
        "note:       title is no string: ignored",
        'note:       kind "dig" is unknown in this version: ignored',
    ]
    assert document("show", 18, "--log", log)["events"] == [{
        "event": "ToolCallUpdated",
        "notes": [
            "title is no string: ignored", 'kind "dig" is unknown in this version: ignored',
        ],
    }]  # fmt: skip


def test_a_member_of_a_batch_means_what_it_says(tmp_path: Path) -> None:
    batch = [update("plan", entries=[]), update("tool_call", toolCallId="c", title="T")]
    log = put(tmp_path / "log.db", [*V1[:4], ("agent", batch), ("stderr", "words")])

    assert [told(log, seq) for seq in (5, 6, 7)] == [
        ["event:      PlanUpdated"], ["event:      ToolCallRestarted"], ["event:      LineWritten"],
    ]  # fmt: skip


def test_the_end_of_the_connection_is_no_message(tmp_path: Path) -> None:
    log = put(tmp_path / "log.db", V2)

    assert told(log, len(V2)) == ["event:      TerminalUpdated"]


def test_a_note_that_quotes_the_agent_is_harmless(tmp_path: Path) -> None:
    log = put(tmp_path / "log.db", [*V1[:4], ("agent", update(f"_{EVIL}\ud800"))])

    assert told(log, 5)[1] == (
        'note:       "_id\\e[2J\\u202e\\ud800" is no update of version 1: it changes nothing'
    )
    [event] = document("show", 5, "--log", log)["events"]
    assert event["event"] == "UpdateReceived"
    assert "\\ud800" in event["notes"][0]
