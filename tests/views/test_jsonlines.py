"""The interchange lines: what is written is read, and a wrong line is told, never guessed at."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from acp_proxy.log.rows import FrameRow
from acp_proxy.views.jsonlines import BadLineError, frame_line, parse_line, parse_time, rfc3339


@given(
    st.sampled_from(["client", "agent", "stderr"]),
    st.binary().map(lambda raw: raw.replace(b"\n", b"")),
    st.sampled_from([b"\n", b"\r\n", b""]),
    st.one_of(st.none(), st.integers(0, 4_000_000_000_000_000_000)),
    st.one_of(st.none(), st.integers(0, 2**62)),
)
def test_a_frame_survives(
    stream: str, body: bytes, end: bytes, time_ns: int | None, elapsed_ns: int | None
) -> None:
    raw = body + end
    frame = FrameRow(7, stream, 0, time_ns, elapsed_ns, raw, len(raw), 1)

    line = frame_line(frame, raw)

    assert "\n" not in line
    assert parse_line(line.encode()) == (stream, raw, time_ns, elapsed_ns)


@given(st.integers(0, 4_000_000_000_000_000_000))
def test_a_time_survives(time_ns: int) -> None:
    assert parse_time(rfc3339(time_ns)) == time_ns


@pytest.mark.parametrize(
    ("text", "time_ns"),
    [
        ("1970-01-01T00:00:01Z", 1_000_000_000),
        ("1970-01-01T00:00:01.5Z", 1_500_000_000),
        ("1970-01-01T01:00:00.000000001+01:00", 1),
        ("1970-01-01T00:00:00.1234567891Z", 123_456_789),
    ],
)
def test_times_are_read_as_rfc_3339_has_them(text: str, time_ns: int) -> None:
    assert parse_time(text) == time_ns


def test_a_message_is_written_compactly_and_loses_nothing() -> None:
    text = (
        b'{"from": "agent", "message": {"id": 1.10, "b": [ 9007199254740993, "a b" ], "b": 1e400}}'
    )

    assert parse_line(text).raw == b'{"id":1.10,"b":[9007199254740993,"a b"],"b":1e400}\n'


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("", "not JSON"),
        ("[]", "not an object"),
        ('{"data": "x"}', '"from" must be'),
        ('{"from": "editor", "data": "x"}', '"from" must be'),
        ('{"from": "agent"}', "neither"),
        ('{"from": "agent", "data": 3}', "neither"),
        ('{"from": "agent", "data": "a\\nb"}', "one line"),
        ('{"from": "agent", "data": "\\ud800"}', "lone surrogate"),
        ('{"from": "agent", "dataBase64": "%"}', "not base64"),
        ('{"from": "agent", "data": "", "end": "\\r"}', '"end" must be'),
        ('{"from": "agent", "data": "", "time": "yesterday"}', '"time" must'),
        ('{"from": "agent", "data": "", "time": "2026-01-01T00:00:00"}', "offset"),
        ('{"from": "agent", "data": "", "elapsed_ns": "5"}', '"elapsed_ns" must'),
        ("[" * 100_000, "not JSON"),
    ],
)
def test_a_wrong_line_says_what_is_wrong(line: str, reason: str) -> None:
    with pytest.raises(BadLineError, match=reason):
        parse_line(line.encode())


@given(
    st.one_of(st.binary(), st.text().map(str.encode), st.just({}).map(json.dumps).map(str.encode))
)
def test_any_bytes_are_a_line_or_a_bad_line(data: bytes) -> None:
    try:
        stream = parse_line(data).stream
    except BadLineError:
        return
    assert stream in ("client", "agent", "stderr")
