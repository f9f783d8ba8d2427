"""Settings as people write them, drawn by hypothesis: comments, odd space, trailing commas. No tests."""

from __future__ import annotations

import json
import random
from typing import TYPE_CHECKING, Any

from hypothesis import strategies as st

import tests.strategies  # noqa: F401 - chooses hypothesis' profile
from acp_proxy.editors.jsonc import parse
from acp_proxy.editors.known import ACPX, JETBRAINS, VSCODE, ZED
from tests.editors.readers import acpx_words

if TYPE_CHECKING:
    from acp_proxy.editors.entries import Shape

SHAPES = {"zed": ZED, "jetbrains": JETBRAINS, "vscode": VSCODE, "acpx": ACPX}
LAUNCH = ("command", "args", "argv")
GAPS = [
    "", "", "", " ", "  ", "\n", "\n  ", "\r\n\t", " // { \"a\": [ , }\n", "// \\\r\n    ", "/* x */", "\n/* , */\n",
    "/**/", "\n  // \"agent_servers\": {},\n  ",
]  # fmt: skip
WORDS = st.text(
    st.characters(exclude_categories=["Cs"], exclude_characters="\x00"), max_size=8
) | st.sampled_from(["acp", "--", "run", "-y", 'a"b', "c:\\d", "$HOME", "`x`", "é ü", " ", ""])
PROGRAMS = st.sampled_from(["goose", "/usr/bin/my agent", "node", "C:\\x.exe", 'q"x', "päth"])
SCALARS = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | WORDS
)
VALUES = st.recursive(
    SCALARS,
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(WORDS.map("k{}".format), inner, max_size=3)
    ),
    max_leaves=6,
)


def render(value: Any, chance: random.Random) -> str:
    """Return a value as JSON with comments, laid out by chance."""

    def gap() -> str:
        return chance.choice(GAPS)

    def listed(parts: list[str], opening: str, closing: str) -> str:
        comma = f",{gap()}" if parts and chance.random() < 0.4 else ""
        return f"{opening}{','.join(parts)}{comma}{closing if parts or comma else gap() + closing}"

    if isinstance(value, dict):
        members = [
            f"{gap()}{render(key, chance)}{gap()}:{gap()}{render(part, chance)}{gap()}"
            for key, part in value.items()
        ]
        return listed(members, "{", "}")
    if isinstance(value, list):
        return listed([f"{gap()}{render(part, chance)}{gap()}" for part in value], "[", "]")
    return json.dumps(value, ensure_ascii=chance.random() < 0.5)


@st.composite
def entries(draw: st.DrawFn, shape: Shape) -> dict[str, Any]:
    """An agent as an editor documents it."""
    words = [draw(PROGRAMS), *draw(st.lists(WORDS, max_size=3))]
    forms = ["split", "bare", "none"] + ["argv", "line"] * shape.has_lines
    form = draw(st.sampled_from(forms))
    more: dict[str, Any] = draw(st.dictionaries(st.sampled_from(["env", "x", "name"]), VALUES))
    if form == "none":
        return {**more, "type": "registry"}
    if form == "argv":
        return {**more, "argv": words}
    if form == "line":
        line = draw(st.sampled_from(["goose acp", " 'my agent' --x=\"a b\" ", 'a\\ b "c\\"d" é']))
        return {"command": line, **more}
    if form == "bare":
        return {**more, "command": "goose"}
    return {"type": "custom", "command": words[0], **more, "args": words[1:]}


@st.composite
def settings(draw: st.DrawFn, shape: Shape) -> str:
    """Settings with some agents, or none, and other things, laid out by chance."""
    names = WORDS.filter(lambda name: name != "added")
    data: dict[str, Any] = draw(st.dictionaries(WORDS.map("k{}".format), VALUES, max_size=3))
    if draw(st.booleans()):
        agents = draw(st.dictionaries(names, entries(shape), max_size=3))
        position = draw(st.integers(0, len(data)))
        members = list(data.items())
        data = dict([*members[:position], (shape.key, agents), *members[position:]])
    chance = random.Random(draw(st.integers(0, 2**32)))
    text = chance.choice(GAPS) + render(data, chance) + chance.choice(GAPS)
    return chance.choice(["", "", "\ufeff"]) + text


def said(text: str) -> Any:
    """Return what settings mean."""
    root = parse(text)
    return None if root is None else root.data


def words_of(entry: dict[str, Any], shape: Shape) -> list[str]:
    """Return the words that an editor would start; none if it finds them itself."""
    if "argv" in entry:
        return list(entry["argv"])
    if "command" not in entry:
        return []
    if shape is ACPX and "args" not in entry:
        return acpx_words(entry["command"])
    return [entry["command"], *entry.get("args", [])]


def launches(text: str, shape: Shape) -> dict[str, list[str]]:
    agents = (said(text) or {}).get(shape.key, {})
    return {name: words_of(entry, shape) for name, entry in agents.items()}


def rest(text: str, shape: Shape) -> str:
    """Return all that settings mean but how agents are started; order counts."""
    data = said(text) or {}
    for entry in data.get(shape.key, {}).values():
        for key in LAUNCH:
            entry.pop(key, None)
    return json.dumps(data)
