"""Private keys as text: PEM and OpenPGP armor, PuTTY; with or without their end, in any dress."""

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

_BEGIN = re.compile(r"-----BEGIN [A-Z0-9 ]{0,30}PRIVATE KEY(?: BLOCK)?-----")
_END = re.compile(r"-----END [A-Z0-9 ]{0,30}PRIVATE KEY(?: BLOCK)?-----")
_BODY = re.compile(
    r"(?:(?:Proc-Type|DEK-Info|Version|Comment|Charset|Hash):[^\n]{0,200}\n"
    r"|[A-Za-z0-9+/=\s]|\\[nrt]|\d{1,6}[\u2192:-]|(?!-----E)[\"',+|>#*:.()\u2502\u2503\u2192-](?=[\W\d]|[A-Za-z0-9+/=]{16}))*+"
)
_PUTTY = re.compile(r"Private-Lines: \d{1,4}\s")
_PUTTY_BODY = re.compile(r"(?:Private-(?:MAC|Hash): ?|[A-Za-z0-9+/=\s])*+")
_RUN = re.compile(r"[A-Za-z0-9+/]{24,}")


def find_keys(text: str) -> "Iterator[tuple[int, int]]":
    """Yield where private keys stand; one that does not end reaches as far as it looks like one."""
    if "PRIVATE KEY" in text:
        done = 0
        for begin in _BEGIN.finditer(text):
            if begin.start() < done:
                continue
            body = _BODY.match(text, begin.end())
            done = begin.end() if body is None else body.end()
            end = _END.match(text, done)
            if end is not None:
                done = end.end()
            if _RUN.search(text, begin.end(), done):  # or it is only the name of such keys
                yield begin.start(), done
    if "Private-Lines: " in text:
        for begin in _PUTTY.finditer(text):
            body = _PUTTY_BODY.match(text, begin.end())
            if body is not None and len(body[0]) > 16:
                yield begin.end(), body.end()
