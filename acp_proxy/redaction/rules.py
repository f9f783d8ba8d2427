"""What else somebody wants blanked: names, texts and patterns of their own. Pure.

A name is a place, like ``env``: everything under it goes. A text goes wherever it stands, a
pattern where it fits. What is built in stays as it is; nothing here takes away from it.
"""

import re
import warnings
from typing import TYPE_CHECKING, Final

from acp_proxy.redaction.names import is_harmless
from acp_proxy.redaction.vendors import Span

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

_SEPARATORS = re.compile(r"[-_. ]")
_SEPARATOR = "[-_. ]*+"
_VALUE = (
    r"""(?:\\{0,4}["'\]]){0,2}[ \t]{0,8}(?:=>|[:=])[ \t]{0,8}"""
    r"""(?:\\{0,4}"(?P<double>[^"\\\r\n]{1,4096})|\\{0,4}'(?P<single>[^'\\\r\n]{1,4096})"""
    r"""|(?P<plain>[^\s"'`,;&<>\\{}\[\]]{1,4096}))"""
)
_OPTION_VALUE = r"""[ =](?:"(?P<double>[^"\r\n]{1,4096})|(?P<plain>[^\s"'-][^\s"']{0,4095}))"""
_LINE = re.compile(r"[^\r\n]+")
_ANY_LENGTH: Final = 10**9


class Rules:
    """What is to be blanked beside what always is.

    Attributes:
        texts: Blanked wherever they stand, as they are written, also in pieces and encoded.
        shortest: No text of fewer characters holds anything of this.

    """

    def __init__(
        self,
        names: "Iterable[str]" = (),
        texts: "Iterable[str]" = (),
        patterns: "Iterable[str]" = (),
    ) -> None:
        """Take lists as they are in a configuration file.

        Raises:
            re.error: A pattern is none.

        """
        squeezed = {name for name in map(_squeezed, names) if name.isalnum()}
        self.texts = tuple(text for text in texts if text)
        self._names = frozenset(squeezed)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of "[[": nothing a reader of an export can do about
            self._patterns = [re.compile(pattern) for pattern in patterns]
        self._assignments: list[re.Pattern[str]] = []
        if squeezed:
            spelled = "|".join(_SEPARATOR.join(map(re.escape, name)) for name in sorted(squeezed))
            self._assignments = [
                re.compile(rf"(?i)(?<![A-Za-z0-9])(?:{spelled}){_VALUE}"),
                re.compile(rf"(?i)(?<![\w-])--?(?:{spelled}){_OPTION_VALUE}"),
            ]
        lengths = [len(text) for text in self.texts] + [len(name) + 2 for name in squeezed]
        self.shortest = 1 if self._patterns else min(lengths, default=_ANY_LENGTH)

    def has_name(self, name: str) -> bool:
        """Tell whether everything under a name is to be blanked; case, ``_`` and ``-`` do not count.

        >>> Rules(names=["employeeId"]).has_name("EMPLOYEE_ID")
        True
        """
        return bool(self._names) and _squeezed(name) in self._names

    @property
    def is_empty(self) -> bool:
        """Whether nothing is looked for."""
        return self.shortest == _ANY_LENGTH

    def find(self, text: str) -> "Iterator[Span]":
        """Yield where a pattern fits, and the values of what has one of the names."""
        for pattern in self._patterns:
            for match in pattern.finditer(text):
                for line in _LINE.finditer(text, *match.span()):
                    yield Span(*line.span(), is_open=False)
        for assignment in self._assignments:
            for match in assignment.finditer(text):
                group = next(name for name, value in match.groupdict().items() if value)
                if not is_harmless(match[group]):
                    yield Span(*match.span(group), is_open=False)


def _squeezed(name: str) -> str:
    """Return a name without what separates its words and without case."""
    lower = _SEPARATORS.sub("", name).lower()
    return lower if lower.isascii() == name.isascii() else name  # the Kelvin sign is no k


NO_RULES: Final = Rules()
