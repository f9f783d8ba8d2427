"""Lists and pages at real terminals of 40, 80 and 200 columns, with wide and hostile text."""

from pathlib import Path
from typing import Any

import pytest

from acp_proxy.views.columns import width
from tests.cli.conversations import EVIL, V1, put, request, update
from tests.terminals import at_terminal

WIDE = "日本語のタイトル 👩‍🌾 ❤️ " * 6
LISTS = [
    ["messages"], ["tool-calls"], ["permissions"], ["terminals"], ["sessions"], ["connections"],
    ["state"], ["pending"], ["tail", "-n", "99"], ["search", "warning"], ["doctor"],
]  # fmt: skip
PAGES = [["show", "18"], ["tool-call", "c9"], ["terminal", "term"], ["stats"]]


@pytest.fixture(scope="module")
def log(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A log with everything in it that is hard to lay out."""
    ask: dict[str, Any] = {"toolCall": {"toolCallId": "c9"}, "title": EVIL + WIDE}
    more: list[tuple[str, Any]] = [
        (
            "agent",
            update("tool_call", toolCallId="c9", title=WIDE + EVIL, kind="edit", status=WIDE),
        ),
        ("agent", update("session_info_update", title=WIDE + EVIL)),
        ("agent", request(9, "session/request_permission", sessionId="s", options=[], **ask)),
        ("agent", update("agent_message_chunk", content={"type": "text", "text": WIDE + EVIL})),
        ("stderr", f"warning {WIDE}{EVIL}"),
    ]
    return put(tmp_path_factory.mktemp("widths") / "log.db", [*V1, *more])


@pytest.mark.slow
@pytest.mark.parametrize("columns", [40, 80, 200])
@pytest.mark.parametrize("words", LISTS, ids=" ".join)
def test_a_list_keeps_within_its_terminal(log: Path, words: list[str], columns: int) -> None:
    shown = at_terminal(columns, *words, log=log, NO_COLOR="1")

    lines = shown.rstrip("\n").split("\n")
    assert max(map(width, lines)) <= columns
    assert not {"\x1b", "\u202e", "\r"} & set(shown)
    assert len(lines) > 1


@pytest.mark.parametrize("columns", [40, 80, 200])
@pytest.mark.parametrize("words", PAGES, ids=" ".join)
def test_the_facts_of_a_page_keep_within_its_terminal(
    log: Path, words: list[str], columns: int
) -> None:
    shown = at_terminal(columns, *words, log=log, NO_COLOR="1")

    assert not {"\x1b", "\u202e", "\r"} & set(shown)
    head = shown.rstrip("\n").split("\n\n")[0].split("\n")
    assert len(head) > 2 or words == ["stats"]
    if words != ["stats"]:
        assert max(map(width, head)) <= columns


def test_ids_are_whole_in_every_width(log: Path) -> None:
    for columns in (40, 80, 200):
        shown = at_terminal(columns, "tool-calls", log=log)
        assert {line.split()[0] for line in shown.split("\n")[1:] if line[:1] not in ("", " ")} == {
            "c1", "c9", "id\\e[2J\\u202e",
        }  # fmt: skip
