"""The shared conversations with their states after every frame, asked through the command line."""

import json
from pathlib import Path
from typing import Any

from tests.cli.commands import document, invoke

LISTS = ("toolCalls", "terminals", "permissions")
_LEFT_ASIDE = ("firstSeq", "lastSeq", "seq", "answeredSeq")


def _kept(session: dict[str, Any]) -> dict[str, Any]:
    """Return what the vectors say of a session."""
    lists = {
        key: [
            {name: value for name, value in thing.items() if name not in _LEFT_ASIDE}
            for thing in session[key]
        ]
        for key in LISTS
    }
    return {"sessionId": session["sessionId"], **lists}


def _exact(value: Any) -> str:
    """Return a value so that 0 is not False, and 1 not 1.0."""
    return json.dumps(value, sort_keys=True)


def test_every_state_of_every_vector(vectors: Path, tmp_path: Path) -> None:
    log = tmp_path / "log.db"
    checked = 0
    for connection, vector in enumerate(json.loads((vectors / "state.json").read_text()), 1):
        lines = "\n".join(json.dumps(frame) for frame in vector["frames"])
        invoke("import", "-", "--log", log, stdin=lines.encode())
        expected = {state["after"]: state["sessions"] for state in vector["expect"]}
        for seq in range(1, len(vector["frames"]) + 1):
            found = [
                _kept(session)
                for session in _state(connection, seq, log)["sessions"]
                if any(session[key] for key in LISTS)
            ]
            if seq in expected:
                checked += 1
                assert _exact(found) == _exact(expected[seq]), f"{vector['id']} after {seq}"

    assert checked > 100


def _state(connection: int, seq: int, log: Path) -> dict[str, Any]:
    """Return the state as the command prints it."""
    found: dict[str, Any] = document("state", connection, "--at", seq, "--log", log)
    assert (found["connection"], found["at"]) == (connection, seq)
    return found
