"""Diffs of a tool call's content as unified diffs: of both texts (v1), or the patch given (v2)."""

import difflib
from typing import Any

_LONGEST = 200_000  # characters; comparing longer texts line by line takes too long

_HEADERS = 2  # lines of a unified diff before its first hunk


def diff_lines(item: dict[str, Any]) -> list[str]:
    """Return a content item of type ``diff`` as lines, as they were sent: not yet harmless."""
    if "newText" in item:
        return _of_texts(item)
    changes = item.get("changes")
    lines = [_change(change) for change in changes] if isinstance(changes, list) else []
    patch = item.get("patch")
    text = patch.get("text") if isinstance(patch, dict) else None
    if isinstance(text, str):
        lines += text.split("\n")[: -1 if text.endswith("\n") else None]
    return lines


def _of_texts(item: dict[str, Any]) -> list[str]:
    path, old, new = str(item.get("path", "?")), item.get("oldText"), item["newText"]
    before, after = _lines(old), _lines(new)
    if len(str(old)) + len(str(new)) > _LONGEST:
        return [f"{path}: {len(before)} lines before, {len(after)} after"]
    was = "/dev/null" if old is None else path
    lines: list[str] = []
    for number, line in enumerate(difflib.unified_diff(before, after, was, path, lineterm="")):
        lines.append(line.removesuffix("\n"))
        if number >= _HEADERS and line[0] != "@" and not line.endswith("\n"):
            lines.append("\\ No newline at end of file")
    return lines or [f"{path}: no change"]


def _lines(text: Any) -> list[str]:
    """Return the lines of a text with their ends; only a line feed ends one."""
    if not isinstance(text, str):
        return []
    parts = [part + "\n" for part in text.split("\n")]
    last = parts.pop()[:-1]
    return [*parts, last] if last else parts


def _change(change: Any) -> str:
    if not isinstance(change, dict):
        return f"change {change}"
    old = f"{change['oldPath']} -> " if "oldPath" in change else ""
    return f"{change.get('operation', '?')} {old}{change.get('path', '?')}"
