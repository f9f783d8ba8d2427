"""Transcripts of a peer that means harm: every format stays safe, and can still be read."""

import json
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from markdown_it import MarkdownIt

from tests.cli.conversations import EVIL, b64, put, request, result, update
from tests.cli.transcripts import (
    FORMATS,
    Page,
    assert_accounted,
    assert_harmless,
    imported,
    tell,
    told,
)

ESCAPES = (
    "a\x1b[2J\x1b[1;1Hb\x1b]0;title\x07c\x9b31md\x1b[8mhidden\x1b]8;;http://evil.example\x1b\\link"
)
BIDI = "user\u202e\u2066nimda\u2069\u202c \u200bzero &#x202e;entity&#27;[2J"
SCRIPT = "<script>alert(1)</script><img src=x onerror=alert(2)><svg/onload=alert(3)>"
LINKS = (
    "[a](javascript:alert(1)) [b](JaVaScRiPt:alert(1)) [c](data:text/html,x) [d](vbscript:x) "
    "<javascript:alert(4)> [e]( java\tscript:x ) [f](file:///etc/passwd) [g](&#106;avascript:1)\n\n"
    "[h]: javascript:alert(5)\n[h] and [i][h]"
)
BEACONS = (
    "![x](https://evil.example/p.png) ![y][r] [![z](https://evil.example/q)](https://ok.example)\n\n"
    '[r]: https://evil.example/r.png\n\n<img src="https://evil.example/s">'
)
TICKS = "`" * 5000 + "\n</code></pre><h1>out</h1>\n" + "`" * 4999
BREAKOUT = "# Transcript of connection 9\n\nx\n===\n\n## Session `mine`\n\n```\nnever closed\n</style></pre>"
STYLE = '"><style>*{display:none}</style><meta http-equiv=refresh content=0;url=//evil.example>'
TEXTS = (ESCAPES, BIDI, SCRIPT, LINKS, BEACONS, TICKS, BREAKOUT, STYLE, "\x00\ufeff\ud800")
LONG = "x" * 2_000_000


def every_place(text: str) -> list[tuple[str, Any]]:
    """Return messages that have a text at every place where a transcript shows one."""
    block, item = (
        {"type": "text", "text": text},
        {"type": "content", "content": {"type": "text", "text": text}},
    )
    options = [{"optionId": text, "name": text, "kind": text}]
    call = {"toolCallId": text[:2000] or "x", "title": text, "name": text, "rawInput": {text: text}}
    return [
        ("client", request(1, "session/prompt", sessionId="s", prompt=[
            block, {"type": "resource_link", "uri": text, "name": text, "title": text},
            {"type": "resource", "resource": {"uri": text, "mimeType": text, "text": text}},
            {"type": "image", "mimeType": "image/png", "data": text, "uri": text},
            {"type": text, "x": text},
        ])),
        ("agent", update("agent_message_chunk", content=block)),
        ("agent", update("agent_thought_chunk", content=block)),
        ("agent", update("plan", entries=[{"content": text, "status": text, "priority": text}])),
        ("agent", update("plan_update", plan={"type": "markdown", "planId": text, "content": text})),
        ("agent", update("tool_call", **call, status="completed", kind=text, rawOutput=text,
                         locations=[{"path": text, "line": 1}, text], content=[
                             item, {"type": "diff", "path": text, "oldText": text, "newText": f"{text}!"},
                             {"type": "terminal", "terminalId": text}, {"type": text}],
                         _meta={"terminal_info": {"terminal_id": text, "cwd": text}})),
        ("agent", update("tool_call_update", toolCallId=call["toolCallId"], _meta={
            "terminal_output": {"terminal_id": text, "data": f"{text}\n{text}"},
            "terminal_exit": {"terminal_id": text, "exit_code": 1, "signal": text}})),
        ("agent", request(text, "session/request_permission", sessionId="s", title=text,
                          description=text, options=options, subject={"type": "command", "command": text})),
        ("client", result(text, outcome={"outcome": "selected", "optionId": text})),
        ("agent", request("e", "elicitation/create", sessionId="s", message=text)),
        ("client", result("e", action=text)),
        ("agent", update("notice", severity=text, title=text, description=text, **{text: text})),
        ("agent", update("compaction_update", compactionId=text, status=text, error=text, summary=[block])),
        ("agent", update("subagent_update", sessionId=f"child {text}", title=text, description=text,
                         cwd=text, state={"state": text, "stopReason": text})),
        ("agent", update("session_message", messageId=text, senderSessionId=text, content=[block])),
        ("agent", update("session_info_update", title=text)),
        ("agent", update("current_mode_update", currentModeId=text)),
        ("agent", update("config_option_update", configOptions=[{"id": text, "currentValue": text}])),
        ("agent", update("usage_update", used=1, size=2, cost={"amount": text, "currency": text})),
        ("agent", update(text, field=text)),
        ("agent", {"jsonrpc": "2.0", "method": f"_{text}", "params": {text: text}}),
        ("client", request(f"q{text}", f"_{text}", path=text)),
        ("agent", {"jsonrpc": "2.0", "id": f"q{text}", "error": {"code": 1, "message": text, "data": text}}),
        ("agent", {"jsonrpc": "2.0", "id": 1, "error": {"code": -1, "message": text}}),
        ("agent", result(f"orphan {text}")),
        ("stderr", text.replace("\n", " ").encode(errors="replace").decode()),
    ]  # fmt: skip


START = [
    (
        "client",
        request(0, "initialize", protocolVersion=1, clientInfo={"name": EVIL, "version": EVIL}),
    ),
    ("agent", result(0, protocolVersion=1, agentInfo={"name": SCRIPT, "version": ESCAPES})),
]


@pytest.mark.slow
@pytest.mark.parametrize("options", [(), ("--full",)], ids=["folded", "full"])
@pytest.mark.parametrize("text", TEXTS, ids=lambda text: repr(text)[:20])
def test_no_text_at_any_place_does_harm(
    text: str, options: tuple[str, ...], tmp_path: Path
) -> None:
    log = put(tmp_path / "log.db", [*START, *every_place(text)])

    for form in FORMATS:
        assert_harmless(form, tell(log, form, *options))
    assert_accounted(told(log, *options))


def test_what_was_meant_as_a_page_is_shown_as_text(tmp_path: Path) -> None:
    texts = [update("agent_message_chunk", content={"type": "text", "text": t}) for t in TEXTS]
    log = put(tmp_path / "log.db", [("agent", one) for one in texts])

    page = Page(tell(log, "html").decode())

    assert "<script>alert(1)</script>" in page.text
    assert "javascript:alert(1)" in page.text
    assert "not loaded from https://evil.example/p.png" in page.text
    assert "\\u202e" in page.text
    assert page.pictures == []


def test_a_text_cannot_pass_for_a_part_of_the_transcript(tmp_path: Path) -> None:
    log = put(tmp_path / "log.db", [*START, *every_place(BREAKOUT)])

    tokens = MarkdownIt("commonmark").parse(tell(log, "markdown").decode())

    titles = [
        (token.tag, content.content)
        for token, content in pairwise(tokens)
        if token.type == "heading_open" and token.tag in ("h1", "h2")
    ]
    assert titles[0] == ("h1", "Transcript of connection 1")
    assert [title for tag, title in titles[1:] if tag == "h1" or title == "Session `mine`"] == []


def test_a_fence_is_longer_than_what_it_holds(tmp_path: Path) -> None:
    item = {"type": "content", "content": {"type": "text", "text": TICKS}}
    log = put(
        tmp_path / "log.db",
        [("agent", update("tool_call", toolCallId="c", title="t", content=[item]))],
    )

    assert_harmless("markdown", tell(log, "markdown"))
    assert b"`" * 5001 in tell(log, "markdown", "--full")


@pytest.mark.parametrize("form", ["text", "markdown", "html"])
def test_a_line_of_two_megabytes_is_shown_in_part(tmp_path: Path, form: str) -> None:
    said = ("agent", update("agent_message_chunk", content={"type": "text", "text": LONG}))
    log = put(tmp_path / "log.db", [*START, said])

    written = tell(log, form)

    assert len(written) < 100_000
    assert b"characters more, shown with --full" in written
    assert_harmless(form, written)
    assert LONG.encode() in tell(log, form, "--full")


@pytest.mark.parametrize("form", ["text", "markdown", "html"])
def test_long_lines_anywhere_are_shown_in_part(tmp_path: Path, form: str) -> None:
    log = put(tmp_path / "log.db", [*START, *every_place(LONG[:100_000])])

    written = tell(log, form)

    assert len(written) < (1_300_000 if form == "html" else 700_000)  # a page has the image
    assert b"characters more, shown with --full" in written
    assert_harmless(form, written)


def test_cursor_tricks_hide_nothing(tmp_path: Path) -> None:
    trick = b"rm -rf /\x1b[1A\x1b[2K\x1b[8Gls\rls -l\n\x1b[?1049hgone\x1b[?1049l\n\x1b[31mred"
    log = put(tmp_path / "log.db", [
        ("client", request(0, "initialize", protocolVersion=2)),
        ("agent", result(0, protocolVersion=2)),
        ("agent", update("terminal_update", terminalId="t", command="x", output={"data": b64(trick)})),
    ])  # fmt: skip

    folded, full = tell(log, "text").decode(), tell(log, "text", "--full").decode()

    assert "ls -l\n" in folded
    assert "1 overwritten line not shown" in folded
    assert "rm -rf /\\e[1A" in full
    assert "gone" in folded


def test_deep_and_odd_json_is_told(tmp_path: Path) -> None:
    deep: Any = "x"
    for _ in range(900):
        deep = [deep]
    lines = [
        {"from": "agent", "data": json.dumps(update("later_update", deep=deep))},
        {
            "from": "agent",
            "data": '{"jsonrpc":"2.0","method":"_n","params":{"n":1e999,"m":-0,"k":1.10}}',
        },
        {
            "from": "agent",
            "data": '{"jsonrpc":"2.0","method":"_d","params":' + "[" * 3000 + "]" * 3000 + "}",
        },
        {
            "from": "agent",
            "data": '{"jsonrpc":"2.0","id":5,"result":' + "[" * 3000 + "]" * 3000 + "}",
        },
        {"from": "agent", "data": "[]"},
        {"from": "client", "dataBase64": b64(b"\xff\xfe\x00{")},
    ]
    file = tmp_path / "odd.jsonl"
    file.write_text("".join(json.dumps(line) + "\n" for line in lines))

    log = imported(tmp_path / "log.db", file)

    for form in FORMATS:
        assert_harmless(form, tell(log, form))
    assert b"1e999" in tell(log, "json")
    assert b"1.10" in tell(log, "text")
    assert_accounted(told(log))
