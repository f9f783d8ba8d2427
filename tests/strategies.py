"""What hypothesis draws for the tests: streams and their splits, JSON values and texts, messages.

Nothing here asserts. What is drawn leans towards what breaks readers of JSON and of ACP.
Importing this module also chooses hypothesis' profile: no time limits, machines are busy.
"""

from __future__ import annotations

import json
import os
from typing import Any

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st

settings.register_profile(
    "house",
    deadline=None,
    max_examples=int(os.environ.get("ACP_TEST_EXAMPLES", "60")),
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("house")

# What a line is made of when it wants to be read wrongly.
AWKWARD = [
    b"", b"{", b"}", b'"', b"\\", b"\r", b"\r\r", b" ", b"\t", b"\x00", b"\x0b", b"\x0c", b"\x1b[0m",
    b"\xef\xbb\xbf", b"\xff\xfe\x00", b"\xc3", b"\xaf", b"\xc2\x85", b"\x85", b"\xe2\x80\xa8",
    b"\xe2\x80\xa9", b"\xf0\x9f\x98\x80", b"\xed\xa0\x80", b'{"jsonrpc":"2.0","id":1,"method":"m"}',
    b"Loading model...", b"\x1c", b"\x1d", b"\x1e",
]  # fmt: skip


def lines() -> st.SearchStrategy[bytes]:
    """Lines without their terminator, of anything but a newline."""
    anything = st.binary(max_size=8).map(lambda raw: raw.replace(b"\n", b"\r"))
    pieces = st.sampled_from(AWKWARD) | anything
    return st.lists(pieces, max_size=5).map(b"".join)


def streams() -> st.SearchStrategy[bytes]:
    """What a peer writes: lines, the last one often without its end."""
    whole = st.lists(lines(), max_size=8).map(lambda found: b"".join(raw + b"\n" for raw in found))
    return st.tuples(whole, lines() | st.just(b"")).map(b"".join)


@st.composite
def splits(draw: st.DrawFn, stream: bytes) -> list[bytes]:
    """Chunks that make up a stream: whole, byte by byte, or cut anywhere; some of them empty."""
    way = draw(st.sampled_from(["whole", "bytes", "anywhere", "anywhere"]))
    if way == "whole":
        return [stream]
    if way == "bytes":
        return [stream[at : at + 1] for at in range(len(stream))]
    cuts = draw(st.lists(st.integers(0, len(stream)), max_size=12).map(sorted))
    return [stream[a:b] for a, b in zip([0, *cuts], [*cuts, len(stream)], strict=True)]


integers = st.one_of(
    st.integers(-10, 10),
    st.sampled_from([2**53 - 1, 2**53, 2**53 + 1, 2**63 - 1, 2**63, 2**64 - 1, -(2**53) - 1]),
    st.sampled_from([-(2**63), 10**16, 10**17 - 1, 10**18]),
    st.integers(-(2**63), 2**64 - 1),
)
"""Integers of 64 bits, signed or not."""
big_integers = st.sampled_from([2**64, 2**64 + 1, -(2**63) - 1, 10**39 + 7, -(10**40), 10**400])
"""Integers of more."""
floats = st.floats(allow_nan=False, allow_infinity=False) | st.sampled_from([0.0, -0.0, 1.0, 1e22])
texts = st.one_of(
    st.sampled_from(["", "a", "id", 'q"', 'q":', "\\", '\\"', '":', ":", "\x00", "\u2028", "é😀"]),
    st.text(st.characters(exclude_categories=["Cs"]), max_size=6),
)
"""Strings that can be encoded."""


def json_values(
    numbers: st.SearchStrategy[int] = integers, strings: st.SearchStrategy[str] = texts
) -> st.SearchStrategy[Any]:
    """JSON values of every type."""
    scalars = st.none() | st.booleans() | numbers | floats | strings
    return st.recursive(
        scalars,
        lambda inner: st.lists(inner, max_size=4) | st.dictionaries(strings, inner, max_size=4),
        max_leaves=12,
    )


# Texts, not values: every way to write JSON that a peer may choose.
WHITE = st.sampled_from(["", "", "", " ", "  ", "\t", "\r", " \t\r "])
STRING_PIECES = st.sampled_from([
    "a", "a", "\\u0061", ":", "\\u003a", "\\u003A", '\\"', "\\u0022", "\\\\", "\\u005c", "/", "\\/",
    "\\n", "é", "\\u00e9", " ", ",", "{", "}", "[", "]", "😀", "\\ud83d\\ude00", "\u2028", "0", "1e5",
])  # fmt: skip
STRINGS = st.lists(STRING_PIECES, max_size=3).map(lambda pieces: '"' + "".join(pieces) + '"')
NUMBERS = st.sampled_from([
    "0", "-0", "1", "1.0", "-1.50", "1e2", "1E+2", "0.1e-7", "-0.0", "12345678901234567",
    "9007199254740993", "9223372036854775807", "9223372036854775808", "18446744073709551615",
    "18446744073709551616", "-9223372036854775808", "-9223372036854775809", "1e400", "-1E400",
    "1e-400", "1234567890123456789012345678901234567890", "0.30000000000000004",
    "179769313486231570814527423731704356798070567525844996598917476803157260780028538760589558632",
    "2.2250738585072011e-308", "1.00000000000000000000000000000000001", "1e22", "1e23",
])  # fmt: skip


@st.composite
def _arrays(draw: st.DrawFn, inner: st.SearchStrategy[str]) -> str:
    elements = draw(st.lists(inner, max_size=3))
    white = draw(WHITE)
    return "[" + white + f"{white},{white}".join(elements) + white + "]"


@st.composite
def _objects(draw: st.DrawFn, inner: st.SearchStrategy[str]) -> str:
    found = draw(st.lists(st.tuples(STRINGS, WHITE, WHITE, inner), max_size=4))
    white = draw(WHITE)
    return "{" + ",".join(f"{white}{k}{a}:{b}{v}{white}" for k, a, b, v in found) + "}"


def json_texts() -> st.SearchStrategy[str]:
    """JSON texts on one line: odd spellings, odd white space, keys that come twice, big numbers."""
    scalars = st.sampled_from(["null", "true", "false"]) | NUMBERS | STRINGS
    return st.recursive(
        scalars, lambda inner: _arrays(inner) | _objects(inner) | _objects(inner), max_leaves=12
    )


def object_texts() -> st.SearchStrategy[str]:
    """The same, of objects only."""
    return _objects(json_texts())


@st.composite
def mutations(draw: st.DrawFn) -> bytes:
    """JSON to which something happened: some bytes lost, added or changed."""
    raw = draw(json_texts()).encode()
    for _ in range(draw(st.integers(1, 3))):
        at = draw(st.integers(0, len(raw)))
        until = draw(st.integers(at, min(len(raw), at + 3)))
        raw = raw[:at] + draw(st.sampled_from(AWKWARD) | st.binary(max_size=2)) + raw[until:]
    return raw


# Messages of ACP, right and wrong.
ANYTHING: st.SearchStrategy[Any] = st.sampled_from([
    None, True, False, 0, 1, -1, 2**63, 2**64, -(10**40), 1.0, 1.5, "", "s", "t", "é", "\x00",
    "\ud800", "a\udfff", [], ["s"], {}, {"s": 1}, [[]], {"toolCallId": 7},
])  # fmt: skip
"""Values of every type, where one was expected."""
IDS: st.SearchStrategy[Any] = st.sampled_from([
    0, 1, 2, "1", "0b6c0b6c-1111-4222-8333-444444444444", 1.0, 1.1, None, 2**53 + 1, 10**39, "\ud83d",
    True, [], {}, -(2**63), 1.5e300, "é",
])  # fmt: skip
METHODS = st.sampled_from([
    "initialize", "session/new", "session/prompt", "session/load", "session/update", "session/cancel",
    "session/request_permission", "fs/read_text_file", "terminal/create", "terminal/output",
    "terminal/cancel", "tool_call/cancel", "$/cancel_request", "_vendor/x\ud800", "é", "",
])  # fmt: skip
UPDATES = st.sampled_from([
    "tool_call", "tool_call_update", "agent_message_chunk", "plan", "state_update", "terminal_update",
    "tool_call_content_chunk", "usage_update", "_custom",
])  # fmt: skip
SESSIONS = st.sampled_from(["s", "s9", "\ud800", ""])


def _sometimes(**members: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    """Objects with some of these members, each of the right type more often than not."""
    optional = {key: value | value | ANYTHING for key, value in members.items()}
    return st.fixed_dictionaries({}, optional=optional)


_TERMINAL = _sometimes(terminal_id=st.just("term"), data=st.just("ok"))
_TOOL_CALL = _sometimes(
    sessionUpdate=UPDATES,
    toolCallId=st.sampled_from(["t", "t2"]),
    terminalId=st.just("term"),
    sessionId=SESSIONS,
    status=st.sampled_from(["pending", "in_progress", "completed", "failed"]),
    _meta=_sometimes(terminal_info=_TERMINAL, terminal_output=_TERMINAL, terminal_exit=_TERMINAL),
)
_INFO = _sometimes(name=texts, title=texts, version=texts)
_PARAMS = _sometimes(
    sessionId=SESSIONS,
    update=_TOOL_CALL,
    toolCall=_TOOL_CALL,
    subject=_sometimes(type=st.just("tool_call"), toolCall=_TOOL_CALL, toolCallId=st.just("t")),
    toolCallId=st.just("t"),
    terminalId=st.just("term"),
    requestId=IDS,
    protocolVersion=st.sampled_from([1, 2]),
    clientInfo=_INFO,
    info=_INFO,
)
_RESULT = _sometimes(
    sessionId=SESSIONS,
    terminalId=st.just("term"),
    protocolVersion=st.sampled_from([1, 2, "2025-01-01"]),
    agentInfo=_INFO,
    info=_INFO,
)
_ERROR = _sometimes(code=st.sampled_from([-32700, -32800, 2**63, -(10**30)]), message=texts)
_CALLS = st.fixed_dictionaries(
    {"jsonrpc": st.just("2.0"), "method": METHODS},
    optional={"id": IDS, "params": _PARAMS | ANYTHING},
)
_RESPONSES = st.fixed_dictionaries(
    {"jsonrpc": st.just("2.0")}, optional={"id": IDS, "result": _RESULT, "error": _ERROR}
)


@st.composite
def messages(draw: st.DrawFn) -> Any:
    """ACP messages of both versions as Python values, with wrong types anywhere."""
    return draw(_CALLS | _CALLS | _RESPONSES | ANYTHING)


@st.composite
def message_lines(draw: st.DrawFn) -> bytes:
    """What stands on one line of a connection: a message, a batch, or something else."""
    way = draw(st.sampled_from(["one", "one", "one", "batch", "line", "mutation"]))
    if way == "line":
        return draw(lines()) + b"\n"
    if way == "mutation":
        return draw(mutations()) + b"\n"
    said = draw(messages() if way == "one" else st.lists(messages(), max_size=3))
    return json.dumps(said).encode() + b"\n"
