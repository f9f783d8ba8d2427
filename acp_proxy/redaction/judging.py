"""Whether the value of a name that says secret is a secret, and no code, type, word or label. Pure."""

import re

from acp_proxy.redaction.names import (
    is_code,
    is_harmless,
    is_label,
    is_path,
    is_random,
    is_setting_name,
    may_be_secret,
    says_password,
)
from acp_proxy.redaction.values import Named, Value

_CLOSING = " )]},;"
_ENDS = ("", "\n", "\r")
_SHORTEST, _SHORTEST_MIXED, _SHORTEST_WORD = 3, 6, 8
_LOOSE = ("words", "space", "table", "comma", "element", "call")
_ELSEWHERE = ("http://", "https://", "op://", "vault:", "ENC[")
_IDENTIFIER = re.compile(r"[A-Za-z_$][\w$]*+(?:(?:\.|->|::|\?\.)[A-Za-z_$][\w$]*+)*+")
_PROSE = re.compile(r"[A-Za-z\u00c0-\u017f][\w'\u2019-]*+(?:[ ,.:;?!'\u2019()/-]++[\w'\u2019-]*+)+")
_WORDS = re.compile(r"[a-z]+(?:[-_.][a-z]+)*")
_DOTTED = re.compile(r"[A-Za-z][A-Za-z]*(?:[-_./:][A-Za-z]+)*[0-9]{0,4}")
_ESCAPED_END = re.compile(r"\\+[nrt]")
_DIGIT = re.compile("[0-9]")


def is_secret(text: str, named: Named, value: Value) -> bool:
    """Tell whether a value that stands behind a name in a text is a secret."""
    said = text[value.start : value.end]
    if len(said) < _SHORTEST or _is_none(named.name, said):
        return False
    if value.quoted and said[0] in _CLOSING and not is_random(said):  # the quote ended a text
        return False
    if named.kind in _LOOSE:
        return _is_loose(text, named, value, said)
    if named.separator.startswith(("==", "!=", "->")) and not is_random(said):
        return False
    return (
        is_quoted_secret(named.name, said)
        if value.quoted
        else _is_bare_secret(text, named, value, said)
    )


def is_quoted_secret(name: str, value: str) -> bool:
    """Tell whether a quoted value is a secret, and no name or sentence."""
    if is_code(value) or is_label(value) or is_harmless(value):
        return False
    if says_password(name) or is_random(value):
        return True
    is_name = _IDENTIFIER.fullmatch(value) and not _DIGIT.search(value)
    return not (is_name or _PROSE.fullmatch(value) or _WORDS.fullmatch(value) or _is_word(value))


def _is_none(name: str, said: str) -> bool:
    """Tell whether a value is no secret whatever stands around it."""
    return (
        (is_harmless(said) and not may_be_secret(name, said))
        or is_path(said)
        or is_label(said)
        or said.startswith(_ELSEWHERE)
        or ("\\" in said and _is_plain(_ESCAPED_END.split(said, 1)[0].strip("\"'`")))
    )


def _is_plain(said: str) -> bool:
    """Tell whether what stands before the end of a line, as code writes it, is no secret."""
    return not said or is_harmless(said) or _WORDS.fullmatch(said) is not None


def _is_loose(text: str, named: Named, value: Value, said: str) -> bool:
    """Tell whether what only follows a name is its secret value."""
    if is_code(said) or is_random(said):
        return not is_code(said)
    if named.kind == "element":
        return is_quoted_secret(named.name, said)
    is_odd = _DIGIT.search(said) is not None and not _is_word(said)
    if text.startswith("-", named.start) and named.kind in ("comma", "space"):
        is_option = said.startswith("-") or said.isupper()
        is_given = is_odd or (says_password(named.name) and not said.isalpha())
        is_text = value.quoted and is_quoted_secret(named.name, said)
        return not is_option and (is_text if value.quoted else is_given)
    is_set = says_password(named.name) or (named.kind == "space" and is_setting_name(named.name))
    return is_odd and is_set and named.kind != "table" and (value.quoted or named.kind == "comma")


def _is_bare_secret(text: str, named: Named, value: Value, said: str) -> bool:
    """Tell whether a value without quotes is a secret, and no code."""
    after = text[value.end : value.end + 1]
    if is_code(said) or is_random(said):
        return not is_code(said)
    if after in ("(", "[") or ("." in said and _IDENTIFIER.fullmatch(said)):
        return _is_setting(text, named, value) and says_password(named.name)
    if _is_setting(text, named, value):
        return says_password(named.name) or not _is_word(said)
    has_digit = _DIGIT.search(said) is not None
    if says_password(named.name):
        if has_digit or not _IDENTIFIER.fullmatch(said):
            return len(said) >= _SHORTEST_MIXED and not said.endswith(("(", ":", "?"))
        return len(said) >= _SHORTEST_WORD and said.islower() and after in _ENDS
    bare = said.rstrip(".:")
    is_name = _is_word(bare) or _IDENTIFIER.fullmatch(bare)
    return len(said) >= _SHORTEST_WORD and has_digit and not is_name


def _is_setting(text: str, named: Named, value: Value) -> bool:
    """Tell whether a value is set as in an environment, an option or a query: no code does so."""
    if named.separator != "=" or named.after != value.start:
        return False
    before = text[max(named.start - 1, 0) : named.start]
    return (
        is_setting_name(named.name)
        or text.startswith("-", named.start)
        or before in ("?", "&", ";")
    )


def _is_word(said: str) -> bool:
    """Tell whether a value is a word, or words that something joins, with a number at its end."""
    return _DOTTED.fullmatch(said) is not None
