"""The timeline: every message accounted for, at any point, and the same from a shelf as from memory."""

import io
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from acp_proxy.recording import Recording, open_recording
from acp_proxy.state.fold import State
from acp_proxy.views.transcript.gathering import Gatherer
from acp_proxy.views.transcript.json_document import JSONWriter
from acp_proxy.views.transcript.shelving import Values
from acp_proxy.views.transcript.source import NothingBlanked
from acp_proxy.views.transcript.timeline import Timeline
from tests import strategies
from tests.cli.commands import invoke
from tests.cli.conversations import put, request, result, update
from tests.cli.test_transcript import CONVERSATIONS
from tests.cli.transcripts import assert_accounted, assert_harmless, imported, tell, told
from tests.log.long import put_long

_NEVER = 1 << 60


class Shelf:
    """A shelf in memory, which counts."""

    def __init__(self) -> None:
        self._file = io.BytesIO()
        self.kept = 0

    def put(self, data: bytes) -> int:
        self.kept += 1
        at = self._file.seek(0, io.SEEK_END)
        self._file.write(data)
        return at

    def get(self, at: int, size: int) -> bytes:
        self._file.seek(at)
        return self._file.read(size)


class Messages:
    """The messages of the only connection of a log."""

    def __init__(self, recording: Recording) -> None:
        self._recording = recording

    def row(self, seq: int) -> Any:
        return self._recording.message("latest", seq)

    def lines(self, stream: str, kind: str, first: int, last: int) -> Iterator[Any]:
        return self._recording.messages(stream=stream, kind=kind, since_seq=first, until_seq=last)

    def times(self, seqs: Any) -> dict[int, int | None]:
        return self._recording.times("latest", seqs)


def timeline_of(recording: Recording, shelf: Shelf, due: int) -> Timeline:
    """Return the timeline of a log's connection."""
    gatherer, values, state = Gatherer(), Values(shelf, due), State()
    rows = recording.messages(raw=0)
    for state, events in recording.steps():
        message = next(rows, None)
        if message is not None:
            gatherer.add(message, state, events)
            values.note(state, message.size)
    values.finish()
    return Timeline(Messages(recording), gatherer, state, values, NothingBlanked())


def written(log: Path, due: int) -> tuple[str, int]:
    """Return the JSON of a log's connection, and how often something was put on the shelf."""
    with open_recording(log) as recording:
        row, shelf = recording.connection(), Shelf()
        timeline = timeline_of(recording, shelf, due)
        return "".join(JSONWriter().pieces(timeline, row, row.messages)), shelf.kept


@pytest.mark.slow
def test_telling_it_tells_of_each_mark(tmp_path: Path) -> None:
    put_long(tmp_path / "log.db", 20_000)
    amounts: list[int] = []
    with open_recording(tmp_path / "log.db") as recording:
        row = recording.connection()
        timeline = timeline_of(recording, Shelf(), _NEVER)
        timeline.advance = amounts.append
        text = "".join(JSONWriter().pieces(timeline, row, row.messages))

    assert len(amounts) > 3
    assert sum(amounts) == timeline.marks()
    assert timeline.marks() >= len(json.loads(text)["sessions"][-1]["entries"]) > 500


@pytest.mark.parametrize("name", ["v1", "v2", "04", "05", "06", "07"])
def test_a_shelf_changes_nothing(name: str, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    ours = name.startswith("v")
    folder = CONVERSATIONS if ours else request.getfixturevalue("captures")
    [file] = folder.glob(f"{name}*.jsonl")
    log = imported(tmp_path / "log.db", file)

    in_memory, never = written(log, _NEVER)

    assert never == 0
    for due in (1, 1000):
        from_shelf, often = written(log, due)
        assert from_shelf == in_memory
        assert often > 0


def conversations(vectors: Path) -> list[Any]:
    """Return the vectors."""
    found: list[Any] = json.loads((vectors / "state.json").read_text())
    return found


@pytest.mark.slow
def test_the_messages_of_every_vector_are_accounted_for(vectors: Path, tmp_path: Path) -> None:
    for vector in conversations(vectors):
        file = tmp_path / "vector.jsonl"
        file.write_text("".join(json.dumps(frame) + "\n" for frame in vector["frames"]))
        log = imported(tmp_path / f"{vector['id']}.db", file)
        assert_accounted(told(log))
        assert written(log, 1)[0] == written(log, _NEVER)[0]


@pytest.mark.slow
@settings(
    max_examples=60,
    deadline=None,
)
@given(
    st.lists(
        st.tuples(st.sampled_from(["client", "agent"]), strategies.message_lines()),
        min_size=1,
        max_size=15,
    )
)
def test_whatever_is_said_is_told_and_harmless(
    tmp_path_factory: pytest.TempPathFactory, said: list[tuple[str, bytes]]
) -> None:
    folder = tmp_path_factory.mktemp("said")
    lines = [
        json.dumps({"from": stream, "data": line.decode(errors="replace").replace("\n", " ")})
        for stream, line in said
    ]
    (folder / "said.jsonl").write_text("".join(f"{line}\n" for line in lines))
    invoke("import", folder / "said.jsonl", "--log", folder / "log.db")

    assert_accounted(told(folder / "log.db"))
    for form in ("text", "markdown", "html"):
        assert_harmless(form, tell(folder / "log.db", form))


def test_an_array_that_is_refused_as_a_whole_answers_all_in_it(tmp_path: Path) -> None:
    prompt = [{"type": "text", "text": "hello"}]
    array = [
        request(1, "session/prompt", sessionId="s", prompt=prompt),
        request(2, "session/prompt", prompt=prompt),
        request(3, "_other", sessionId="s"),
    ]
    refusal = {"jsonrpc": "2.0", "id": None, "error": {"code": -32600, "message": "no arrays"}}
    log = put(tmp_path / "log.db", [("client", array), ("agent", refusal)])

    document = told(log)

    assert_accounted(document)
    [entries] = [session["entries"] for session in document["sessions"] if "sessionId" in session]
    assert [entry["entry"] for entry in entries][::2] == ["message", "request"]
    assert b"no answer" not in tell(log, "text")


def test_a_prompt_is_what_it_turns_out_to_be(tmp_path: Path) -> None:
    said = {"type": "text", "text": "hello"}
    log = put(tmp_path / "log.db", [
        ("client", request(1, "session/prompt", sessionId="s", prompt=[said])),
        ("agent", update("state_update", state="running")),
        ("agent", update("user_message", messageId="u", content=[said])),
        ("agent", result(1, messageId="u")),
    ])  # fmt: skip

    document = told(log)

    assert_accounted(document)
    [entry] = document["sessions"][0]["entries"]
    assert (entry["role"], entry["promptSeq"], entry["messages"]) == ("user", 1, 3)


_WRONG: tuple[Any, ...] = (
    None, True, 0, -1, 1.5, "", "x\x1b[2J", [], [[]], {}, {"type": "text"}, {"type": 7}, [None, 1, "a", {}],
)  # fmt: skip


def spoiled(value: Any, choose: Any) -> Any:
    """Return a value with something else at a place in it, or without what was there."""
    if isinstance(value, dict) and value and choose(st.integers(0, 5)):
        name = choose(st.sampled_from(sorted(value)))
        if not choose(st.integers(0, 9)):
            return {key: one for key, one in value.items() if key != name}
        return {**value, name: spoiled(value[name], choose)}
    if isinstance(value, list) and value and choose(st.integers(0, 5)):
        at = choose(st.integers(0, len(value) - 1))
        return [*value[:at], spoiled(value[at], choose), *value[at + 1 :]]
    return choose(st.sampled_from(_WRONG))


@pytest.mark.slow
@settings(max_examples=25, deadline=None)
@given(st.sampled_from(["v1", "v2"]), st.data())
def test_wrong_values_anywhere_are_told_and_harmless(
    tmp_path_factory: pytest.TempPathFactory, name: str, data: st.DataObject
) -> None:
    lines = (CONVERSATIONS / f"{name}.jsonl").read_text().splitlines()
    for _ in range(12):
        at = data.draw(st.integers(1, len(lines) - 1))
        line = json.loads(lines[at])
        if (
            line["from"] != "stderr"
            and line["data"].startswith("{")
            and line["data"].endswith("}}")
        ):
            try:
                message = json.loads(line["data"])
            except ValueError:
                continue
            part = "params" if "params" in message else "result" if "result" in message else "error"
            message[part] = spoiled(message[part], data.draw)
            lines[at] = json.dumps({**line, "data": json.dumps(message)})
    folder = tmp_path_factory.mktemp("spoiled")
    (folder / "spoiled.jsonl").write_text("".join(f"{line}\n" for line in lines))
    log = imported(folder / "log.db", folder / "spoiled.jsonl")

    assert_accounted(told(log))
    for form in ("text", "markdown", "html"):
        assert_harmless(form, tell(log, form))


@pytest.mark.slow
def test_every_prefix_is_told(tmp_path: Path) -> None:
    for name in ("v1", "v2"):
        log = imported(tmp_path / f"{name}.db", CONVERSATIONS / f"{name}.jsonl")
        last = told(log)["connection"]["at"]
        for at in range(1, last + 1):
            document = told(log, "--at", at)
            assert document["connection"]["at"] == at
            assert_accounted(document)
