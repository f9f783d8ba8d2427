"""Nothing that a peer sent acts on a reader's terminal."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from acp_proxy.views.safe_text import decode, visible, visible_lines
from acp_proxy.views.tables import fit, table


@given(st.binary())
def test_no_control_character_and_no_bidi_override_survives(raw: bytes) -> None:
    text = visible(decode(raw))

    assert all(
        unicodedata.category(character) not in ("Cc", "Cs", "Zl", "Zp") for character in text
    )
    text.encode()


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("\x1b]0;title\x07", "\\e]0;title\\x07"),
        ("\x9b31m", "\\x9b31m"),
        ("a\u202eb", "a\\u202eb"),
        ("a\u2066b", "a\\u2066b"),
        ("a\u200fb\ufeff", "a\\u200fb\\ufeff"),
        ("\U000e0041", "\\U000e0041"),
        ("\r\n\t", "\\r\\n\\t"),
        ("naïve 日本 🎉", "naïve 日本 🎉"),
        (b"\xff\xfe".decode(errors="surrogateescape"), "\\xff\\xfe"),
        ("\ud83d", "\\ud83d"),
    ],
)
def test_what_is_harmful_is_shown_and_what_is_not_stays(text: str, shown: str) -> None:
    assert visible(text) == shown


def test_lines_and_tabs_stay_where_lines_are_wanted() -> None:
    assert visible_lines("a\n\tb\x1b[0m\r\n") == "a\n\tb\\e[0m\\r\n"


def test_cells_are_made_harmless_and_wide_characters_align() -> None:
    text = table(["A", "B"], [["日本", "x\x1b[2J"], ["ab", "y"]])

    assert text.splitlines()[1:] == ["日本  x\\e[2J", "ab    y"]


def test_lines_are_cut_to_a_width_by_columns() -> None:
    assert fit("日本語日本語\nabcdefgh", 6) == "日本…\nabcde…"
