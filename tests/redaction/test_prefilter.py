"""The first look never says no to what would be blanked, and says no to most of a conversation."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from acp_proxy.redaction import texts
from acp_proxy.redaction.known import Known
from acp_proxy.redaction.prefilter import flat, is_suspicious
from acp_proxy.redaction.trees import Walk
from tests.redaction.innocents import INNOCENTS
from tests.redaction.secrets import SECRETS

_WORDS = [
    "password", "api_key", "Api-Key", "TOKEN", "secretKey", "cookie", "auth", "FOO_KEY", "x-api-key",
    "=", ":", " ", '"', "'", "\\", "\n", "\r\n", "\x1b[1m", "://", "@", "?", "--", "-u ", "curl ",
    "Bearer ", "Basic ", "sk-", "ghp_", "AKIA", "eyJ", "login ", "[", "]", "{", "}", ",", "%", "abc9",
    "0123456789abcdef" * 2, "name", "value", "env", "headers", "hunter2x",
]  # fmt: skip
_TEXTS = [*_WORDS, *(secret.text for secret in SECRETS), *INNOCENTS.values()]
_pieces = (
    st.integers(0, len(_TEXTS) - 1)
    .map(lambda at: _TEXTS[at])
    .flatmap(
        lambda text: st.tuples(st.integers(0, len(text)), st.integers(0, len(text))).map(
            lambda ends: text if len(text) < 9 else text[min(ends) : max(ends)]
        )
    )
)
_texts = st.lists(_pieces, max_size=9).map("".join)
_json = st.recursive(
    _texts, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_texts, inner, max_size=3)
)


@pytest.mark.slow
@settings(deadline=None, max_examples=400)
@given(_json | st.fixed_dictionaries({"name": _texts, "value": _texts}), st.booleans())
def test_what_would_be_blanked_is_suspicious(value: Any, ascii_only: bool) -> None:
    text = json.dumps(value, ensure_ascii=ascii_only)

    if not is_suspicious(flat(text.encode())):
        assert Walk(Known()).json_edits(text) == []


@pytest.mark.slow
@settings(deadline=None, max_examples=400)
@given(_texts)
def test_text_that_would_be_blanked_is_suspicious(text: str) -> None:
    if not is_suspicious(flat(text.encode(errors="surrogatepass"))):
        assert texts.find(text) == []


def test_most_of_a_conversation_is_not_suspicious(captures: Path) -> None:
    frames = [
        json.loads(line)["data"].encode()
        for path in captures.glob("*.jsonl")
        for line in path.read_text(encoding="utf-8").splitlines()[1:]
    ]

    assert sum(is_suspicious(flat(raw)) for raw in frames) < len(frames) / 20


@pytest.mark.parametrize("kind", ["data", "blob"])
def test_what_base64_says_is_looked_at(kind: str) -> None:
    raw = b'{"' + kind.encode() + b'" : "ZXhwb3J0IEFQSV9LRVk9aHVudGVyMg=="}'

    assert not is_suspicious(raw)
    assert is_suspicious(flat(raw))
