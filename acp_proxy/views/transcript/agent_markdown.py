"""Markdown that a peer wrote, made harmless: as HTML, or as Markdown again.

No raw HTML, no image is loaded, links lead to the web or to mail only, and no
character turns the text round. What would take too long to understand is left to
the caller, to be shown letter by letter.
"""

import re
from functools import cache
from typing import TYPE_CHECKING, Any

from markdown_it import MarkdownIt
from markdown_it.common.utils import escapeHtml
from markdown_it.token import Token

from acp_proxy.views.safe_text import visible_lines

if TYPE_CHECKING:
    from collections.abc import Sequence

    from markdown_it.renderer import RendererHTML

_LONGEST = 100_000  # characters; more takes seconds
_MOST_TOKENS = 1500  # for writing Markdown again, which takes their square
_SAFE_LINK = re.compile(r"(?:https?://|mailto:)[^\x00-\x20]", re.IGNORECASE)
_LOWEST_HEADING = 6
_OUR_HEADINGS = 3  # a transcript's own; what an agent wrote stands below
_LANGUAGE = re.compile(r"[A-Za-z0-9_+#.-]{1,30}")


def to_html(text: str, *, keep_lines: bool = False) -> str | None:
    r"""Return Markdown as harmless HTML, None when it is too long.

    Args:
        text: What a peer wrote.
        keep_lines: Whether a line end stays one, as people who write prompts mean it.

    >>> to_html("*hi* <b> ![x](http://e.example/a.png) [y](javascript:z)")
    '<p><em>hi</em> &lt;b&gt; <span class="image">[image: x, not loaded from http://e.example/a.png]</span> [y](javascript:z)</p>\n'
    """
    if len(text) > _LONGEST:
        return None
    parser = _parser(keep_lines)
    tokens = parser.parse(visible_lines(text))
    for token in tokens:
        _demote(token)
    html: str = parser.renderer.render(tokens, parser.options, {})
    return visible_lines(html)  # again: an entity may stand for anything


def to_markdown(text: str) -> str | None:
    r"""Return Markdown as harmless CommonMark, None when it is too long or cannot be made so.

    >>> to_markdown("# a\n<script> ![x](http://e.example/a.png)")
    '#### a\n\n\\<script> `[image: x, not loaded from http://e.example/a.png]`'
    """
    from mdformat.renderer import MDRenderer  # noqa: PLC0415 - for this format only

    if len(text) > _LONGEST:
        return None
    parser = _commonmark()
    tokens = parser.parse(visible_lines(text))
    size = 0
    for token in tokens:
        _demote(token)
        if token.children:
            token.children = _without_images(token.children)
            size += len(token.children)
        if token.type == "fence":
            token.info = _language(token.info)
    if size + len(tokens) > _MOST_TOKENS:
        return None
    options: dict[str, Any] = {"mdformat": {"number": True}, "parser_extension": []}
    written = visible_lines(MDRenderer().render(tokens, options, {})).strip("\n")
    return written if _is_harmless(written) else None


def _is_harmless(markdown: str) -> bool:
    """Tell whether another parser, with HTML on, would find nothing to load or to run."""
    todo: list[Token] = MarkdownIt("commonmark").enable(["table", "strikethrough"]).parse(markdown)
    while todo:
        token = todo.pop()
        if token.type in ("html_block", "html_inline", "image"):
            return False
        if token.type == "link_open" and not _is_safe_link(str(token.attrGet("href") or "")):
            return False
        if token.type == "heading_open" and int(token.tag[1]) <= _OUR_HEADINGS:
            return False
        todo += token.children or []
    return True


def _is_safe_link(url: str) -> bool:
    return _SAFE_LINK.match(url) is not None


def _demote(token: Token) -> None:
    """Put a heading below those of the transcript."""
    if token.type in ("heading_open", "heading_close"):
        level = min(int(token.tag[1]) + _OUR_HEADINGS, _LOWEST_HEADING)
        token.tag = f"h{level}"
        if token.markup.startswith("#"):
            token.markup = "#" * level


def _without_images(children: "Sequence[Token]") -> list[Token]:
    found = []
    for child in children:
        if child.type == "image":
            code = Token("code_inline", "code", 0, markup="`")
            code.content = _image_words(child)
            found.append(code)
        else:
            found.append(child)
    return found


def _image_words(token: Token) -> str:
    """Return what is said in an image's place."""
    return f"[image: {token.content}, not loaded from {token.attrGet('src')}]"


def _language(info: str) -> str:
    word = info.split(maxsplit=1)[0] if info.strip() else ""
    return word if _LANGUAGE.fullmatch(word) else ""


@cache
def _commonmark() -> MarkdownIt:
    """Return a parser without HTML; tables stay text, since CommonMark has none."""
    parser = MarkdownIt("commonmark", {"html": False})
    parser.validateLink = _is_safe_link  # type: ignore[method-assign]
    return parser


@cache
def _parser(breaks: bool) -> MarkdownIt:
    parser = MarkdownIt("commonmark", {"html": False, "breaks": breaks}).enable(
        ["table", "strikethrough"]
    )
    parser.validateLink = _is_safe_link  # type: ignore[method-assign]
    parser.add_render_rule("image", _image)
    parser.add_render_rule("link_open", _link)
    parser.add_render_rule("fence", _fence)
    parser.add_render_rule("table_open", lambda *_: '<div class="wide"><table>\n')
    parser.add_render_rule("table_close", lambda *_: "</table></div>\n")
    for cell in ("th", "td"):  # alignment is an inline style, which the page forbids
        parser.add_render_rule(f"{cell}_open", _plain_cell)
    return parser


def _image(_renderer: "RendererHTML", tokens: "Sequence[Token]", index: int, *_rest: object) -> str:
    return f'<span class="image">{escapeHtml(_image_words(tokens[index]))}</span>'


def _link(_renderer: "RendererHTML", tokens: "Sequence[Token]", index: int, *_rest: object) -> str:
    url = escapeHtml(str(tokens[index].attrGet("href") or ""))
    return f'<a href="{url}" title="{url}" rel="noopener noreferrer nofollow" target="_blank">'


def _fence(_renderer: "RendererHTML", tokens: "Sequence[Token]", index: int, *_rest: object) -> str:
    language = _language(tokens[index].info)
    name = f' data-language="{escapeHtml(language)}"' if language else ""
    return f"<pre{name}><code>{escapeHtml(tokens[index].content)}</code></pre>\n"


def _plain_cell(
    _renderer: "RendererHTML", tokens: "Sequence[Token]", index: int, *_rest: object
) -> str:
    return f"<{tokens[index].tag}>"
