"""Text in the columns of a terminal: how wide it is, cut, padded and wrapped; wide characters count.

The text has been made harmless before (views.safe_text); nothing here looks for
escape sequences. Most text is ASCII: then wcwidth is not even imported.
"""
# ruff: noqa: PLC0415 - see above

MARK = "…"
"""Stands where text was cut."""


def width(text: str) -> int:
    """Return how many columns a text takes.

    >>> width("abc"), width("日本"), width("👩‍🌾")
    (3, 4, 2)
    """
    if text.isascii():
        return len(text)
    import wcwidth

    return wcwidth.width(text, control_codes="ignore")


def cut(text: str, columns: int) -> str:
    """Return a text cut to so many columns, with a mark when something is missing.

    >>> cut("watermelon", 6), cut("日本語", 4), cut("日本", 4)
    ('water…', '日…', '日本')
    """
    if len(text) > 4 * columns + 64:  # very long: the rest cannot matter
        text = text[: 4 * columns + 64]
    if width(text) <= columns:
        return text
    if columns < 1:
        return ""
    if text.isascii():
        return text[: columns - 1] + MARK
    import wcwidth

    kept = wcwidth.clip(text, 0, columns - 1, control_codes="ignore", propagate_sgr=False)
    return kept.rstrip() + MARK


def pad(text: str, columns: int, *, right: bool = False) -> str:
    """Return a text filled up with spaces; ``right``: flush right."""
    space = " " * (columns - width(text))
    return space + text if right else text + space


def wrap(text: str, columns: int) -> list[str]:
    """Return a text of one line as lines of so many columns at most, broken at spaces if possible.

    >>> wrap("open the valve", 9), wrap("", 9)
    (['open the', 'valve'], [''])
    """
    if width(text) <= columns:
        return [text]
    import wcwidth

    return wcwidth.wrap(text, max(columns, 2), control_codes="ignore") or [""]
