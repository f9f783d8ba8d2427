"""What holds of any text, any JSON and any way of cutting it."""

import base64
import itertools
import json
import re
import time
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from acp_proxy.redaction.redactor import MARKER, Redactor
from tests.redaction.leaks import left, redacted
from tests.redaction.places import Frames, line
from tests.redaction.secrets import SECRETS, SHAPES, Secret

_LITERAL = re.compile(rb'"(?:[^"\\]|\\.)*"')
_texts = st.one_of(
    st.text(max_size=20),
    st.sampled_from(SECRETS).map(lambda secret: secret.text),
    st.sampled_from(
        ["env", "headers", "password", "name", "value", "data", "x: y", "\x1b[1m", "{}"]
    ),
)
_json = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | _texts,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(_texts, inner, max_size=4),
    max_leaves=12,
)


def _is_same_but_for_strings(a: Any, b: Any) -> bool:
    """Tell whether two values have one structure; numbers under a blanket become texts."""
    if isinstance(a, dict):
        return isinstance(b, dict) and all(
            _is_same_but_for_strings(x, y) for x, y in zip(a.values(), b.values(), strict=True)
        )
    if isinstance(a, list):
        return isinstance(b, list) and all(
            _is_same_but_for_strings(x, y) for x, y in zip(a, b, strict=True)
        )
    if isinstance(a, str):
        return isinstance(b, str)
    return a is b or b in (a, MARKER)


@given(_json, st.booleans(), st.sampled_from([None, 1]))
def test_json_stays_the_same_json_but_for_its_strings(
    value: Any, ascii_only: bool, indent: int | None
) -> None:
    text = json.dumps(value, ensure_ascii=ascii_only, indent=indent).replace("\n", "\t")
    raw = text.encode(errors="surrogatepass") + b"\n"

    [out] = redacted([("agent", raw)])

    assert len(_LITERAL.findall(out)) >= len(_LITERAL.findall(raw))
    pairs: Any = json.loads(out, object_pairs_hook=lambda members: dict(enumerate(members)))
    before: Any = json.loads(raw, object_pairs_hook=lambda members: dict(enumerate(members)))
    as_lists = json.loads(json.dumps([before, pairs]))
    assert _is_same_but_for_strings(*as_lists)


@given(_json)
def test_blanking_twice_is_blanking_once(value: Any) -> None:
    once, _ = Redactor().redact_value(value)

    assert Redactor().redact_value(once) == (once, 0)


def _chunk(part: str) -> tuple[str, bytes]:
    content = {"type": "text", "text": part}
    update = {"sessionUpdate": "agent_message_chunk", "content": content}
    return "agent", line(
        {"method": "session/update", "params": {"sessionId": "s", "update": update}}
    )


def _terminal(part: str) -> tuple[str, bytes]:
    data = base64.b64encode(part.encode()).decode()
    update = {"sessionUpdate": "terminal_output_chunk", "terminalId": "t", "data": data}
    return "agent", line(
        {"method": "session/update", "params": {"sessionId": "s", "update": update}}
    )


def _stderr(part: str) -> tuple[str, bytes]:
    return "stderr", part.encode()


def _cut(text: str, places: list[int]) -> list[str]:
    edges = [0, *sorted({place % (len(text) + 1) for place in places}), len(text)]
    return [text[a:b] for a, b in itertools.pairwise(edges)]


@settings(deadline=None)
@given(
    st.sampled_from(SECRETS),
    st.lists(st.integers(0, 10**6), max_size=12),
    st.sampled_from([_chunk, _terminal, _stderr]),
    st.sampled_from(["", "Look:\n", "words and words " * 700]),
)
def test_however_it_is_cut_nothing_of_a_secret_is_left(
    secret: Secret,
    places: list[int],
    make: Callable[[str], tuple[str, bytes]],
    before: str,
) -> None:
    frames: Frames = [make(part) for part in _cut(f"{before}{secret.text}\nend", places)]

    assert left(secret.secret, redacted(frames)) == set()


@settings(deadline=None)
@given(st.lists(_texts, max_size=8), st.lists(st.integers(0, 10**6), max_size=8))
def test_chunks_joined_are_what_the_joined_text_becomes(
    texts: list[str], places: list[int]
) -> None:
    text = " ".join(texts).encode(errors="replace").decode()
    frames = [_chunk(part) for part in _cut(text, places) if part]

    out = [json.loads(raw)["params"]["update"]["content"]["text"] for raw in redacted(frames)]

    redactor = Redactor()
    redactor.learn(lambda: [(seq, *frame) for seq, frame in enumerate(frames, 1)])
    assert "".join(out) == redactor.redact_text(text)[0]


_HOSTILE = {
    "words": "word ",
    "letters": "a",
    "dashes": "-",
    "anchors": "sk-",
    "more anchors": "eyJ.",
    "dots": ".abcdef",
    "almost tokens": "ghp_abc.",
    "names": "password",
    "assignments": "password=",
    "separators": "token: ",
    "addresses": "://",
    "users": "://a:b",
    "keys": "-----BEGIN PRIVATE KEY-----\n",
    "ends": "-----END PRIVATE KEY-----\n",
    "lines": "\n",
    "escapes": "\x1b[",
    "coloured": "\x1b[1ma",
    "wrapped tokens": "ghp_\n",
    "tokens": SHAPES[0].secret + "\n",
    "braces": '{"',
    "objects": '{"a":1}',
    "quotes": '"',
    "backslashes": "\\",
    "flags": "--token ",
    "headers": "Authorization: ",
    "bearers": "bearer ",
    "cookies": "Cookie: a=",
    "curl": "curl ",
    "digits": "1234567890",
    "spaces": " ",
    "tabs": "password\t",
}


def _took(frames: Frames) -> float:
    best = float("inf")
    for _ in range(3):
        start = time.process_time()
        redacted(frames)
        best = min(best, time.process_time() - start)
    return best


@pytest.mark.parametrize("label", _HOSTILE)
def test_the_time_is_linear_in_the_text(label: str) -> None:
    def frames(size: int) -> Frames:
        text = _HOSTILE[label] * (size // len(_HOSTILE[label]))
        return [_chunk(text), ("stderr", text.replace("\n", " ").encode() + b"\n")]

    once, four_times = _took(frames(6_000)), _took(frames(24_000))

    assert four_times < 10 * once + 0.1
