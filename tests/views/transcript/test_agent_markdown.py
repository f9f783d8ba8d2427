"""Markdown of peers made harmless, whatever it is; and still what was meant."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from acp_proxy.views.transcript.agent_markdown import to_html, to_markdown
from tests.cli.transcripts import HARMFUL, assert_markdown

_PIECES = st.sampled_from([
    "<", ">", "</div>", "<b>", "<!--", "![", "](", ")", "[", "]", "`", "```", "~~~", "\n", "\n\n", "# ",
    "- ", "1. ", "> ", "    ", "\t", "*", "_", "\\", "&lt;", "&#60;", "&#x202e;", "javascript:", "http://x.example",
    "<http://x.example>", "|", "|---|", "===", "---", "a", "b c", "\x1b[2J", "\u202e", '"', "'", "=", "!", "[r]: ",
])  # fmt: skip
_MARKDOWN = st.lists(_PIECES, max_size=40).map("".join)


def test_what_was_meant_is_kept() -> None:
    text = "# Head\n\nSome *em*, **strong**, `code`:\n\n1. one\n2. two\n\n> said\n\n```py\nx = 1\n```\n"

    html, markdown = to_html(text), to_markdown(text)

    assert html is not None
    for part in (
        "<h4>Head</h4>",
        "<em>em</em>",
        "<strong>",
        "<ol>",
        "<blockquote>",
        'data-language="py"',
    ):
        assert part in html
    assert markdown == text.replace("# Head", "#### Head").strip()


def test_a_table_can_be_scrolled_and_has_no_style_of_its_own() -> None:
    html = to_html("| a | b |\n|:-:|--:|\n| 1 | 2 |\n") or ""

    assert '<div class="wide"><table>' in html
    assert "style" not in html


def test_a_links_true_place_can_be_seen() -> None:
    html = to_html("[good.example](https://evil.example/?a=1&b=2)") or ""

    assert 'title="https://evil.example/?a=1&amp;b=2"' in html
    assert "noopener noreferrer" in html


@pytest.mark.parametrize(
    "text", ["<b>", "![a](http://x.example/a.png)", "[a](javascript:b)", "&#x202e;"]
)
def test_harm_is_shown_instead_of_done(text: str) -> None:
    html, markdown = to_html(text) or "", to_markdown(text) or ""

    for found in ("<b>", "<img", "href=", "\u202e"):
        assert found not in html
    assert "\u202e" not in markdown
    assert "<img" not in MarkdownIt().render(markdown)


@given(_MARKDOWN)
def test_no_markdown_becomes_html_of_its_own(text: str) -> None:
    html = to_html(text)

    assert html is not None
    assert HARMFUL.search(html) is None
    for opening in ("<script", "<img", "<div>", "<b>", "<!--", "onerror=", 'href="javascript'):
        assert opening not in html.replace('<div class="wide">', "")


@given(_MARKDOWN)
def test_no_markdown_becomes_other_than_harmless_markdown(text: str) -> None:
    markdown = to_markdown(text)

    if markdown is not None:
        assert_markdown(f"# Ours\n\n{markdown}\n")


@pytest.mark.slow
@pytest.mark.parametrize(
    "text",
    ["`" * 5000 + "a" + "`" * 4999, "[" * 20000, ">" * 5000, "*a **" * 4000, "![" * 10000, "- a\n" * 5000,
     "[a](<b" * 3000, "<" * 20000, "a" * 100_000, "|" * 5000 + "\n|-|"],
    ids=lambda text: text[:6],
)  # fmt: skip
def test_no_markdown_takes_for_ever(text: str) -> None:
    begun = time.monotonic()

    to_html(text)
    to_markdown(text)

    assert time.monotonic() - begun < 20  # a bound for what may never end, not a measurement


def test_what_is_too_long_is_left_to_the_caller() -> None:
    assert to_html("a" * 100_001) is None
    assert to_markdown("a" * 100_001) is None
    assert to_markdown("- a\n" * 2000) is None
