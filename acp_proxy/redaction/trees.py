"""Secrets by their place in JSON: under ``env`` and ``headers``, under names that say secret.

One walk over a value decides of each of its scalars; what becomes of it is done to the value, or to
the text that it was parsed from.
"""

import base64
import binascii
import re
from typing import TYPE_CHECKING, Any, NamedTuple

from acp_proxy.redaction import literals, texts
from acp_proxy.redaction.judging import is_quoted_secret
from acp_proxy.redaction.literals import Edit, Members, Number
from acp_proxy.redaction.names import MARKER, may_be_secret, says_secret
from acp_proxy.redaction.vendors import is_dense

if TYPE_CHECKING:
    from collections.abc import Iterable

    from acp_proxy.redaction.joins import FrameCuts, Path
    from acp_proxy.redaction.known import Known

_BLANKETS = frozenset(
    {
        "env", "environment", "envvars", "environmentvariables", "headers", "httpheaders",
        "requestheaders", "responseheaders", "extraheaders", "proxyconfig",
    }
)  # fmt: skip
_NAMES = ("name", "key", "header", "variable")
_BASE64_KEYS = ("data", "blob")
_PLAIN_DATA = (("terminal_output",), ("terminal_output_delta",))  # text, in Zed's extension
_BASE64 = re.compile(r"[A-Za-z0-9+/]{2,}+={0,2}")
_CONTROL = re.compile(r"[\x00-\x06\x0e-\x1a\x1c-\x1f]")
_LONG_BASE64 = 256
_OPENING = re.compile(r'\{\s*+"')
_FLAG = re.compile(r"--?([A-Za-z][\w-]{1,60})")
_SETTING = re.compile(r"[A-Za-z_][\w.-]{0,100}(?:=|:[ ])")
_PIN = re.compile(r"[0-9]{4,}")
_MAX_TRIES = 20
_MAX_NESTED = 4
_MIN_NESTED = 8


class _Place(NamedTuple):
    """Where a scalar stands.

    Attributes:
        path: Keys and indexes from the root.
        blanket: Whether everything here is blanked.
        name: The name that the value has, by its key or by a ``name`` beside it.

    """

    path: "Path" = ()
    blanket: bool = False
    name: str = ""


class Walk:
    """One walk over one value.

    Attributes:
        blanked: How many secrets were found.

    """

    def __init__(self, known: "Known", cuts: "FrameCuts | None" = None, nested: int = 0) -> None:
        self.blanked = 0
        self._known = known
        self._cuts = cuts
        self._nested = nested
        self.places: list[
            tuple[Path, int, str]
        ] = []  # of each secret: where, and what gave it away
        self._crossing: FrameCuts = {}  # what reaches from one text of a list into the next
        self._has_doubles = False  # keys: which of them was joined cannot be told
        self._decided: list[list[Edit]] = []  # of each scalar, in order

    def value(self, value: Any) -> Any:
        """Return a value without its secrets; what holds none is the same object."""
        return self._visit(value, _Place())

    def json_edits(self, text: str) -> list[Edit] | None:
        """Return the edits of a text that is JSON; None when it is none."""
        parsed = literals.parse(text, len(text) - len(text.lstrip(" \t\r\n")))
        if parsed is None or text[parsed[1] :].strip(" \t\r\n"):
            return None
        return self._edits_of(text, parsed[0], 0, len(text))

    def text_edits(self, text: str) -> list[Edit]:
        """Return the edits of a text that is anything."""
        if len(text) < min(texts.SHORTEST, self._known.rules.shortest):
            return []
        embedded = list(self._embedded(text)) if self._nested < _MAX_NESTED else []
        values: list[str] = []
        edits = texts.as_edits(texts.find(text, self._known, values))
        for value in values:
            self._known.add(value)
        return literals.ordered([*embedded, *edits])

    def _embedded(self, text: str) -> "Iterable[Edit]":
        """Return the edits of JSON that stands in a text."""
        found: list[Edit] = []
        tries = 0
        at = _opening(text, 0)
        while at >= 0 and tries < _MAX_TRIES and len(text) - at >= _MIN_NESTED:
            parsed = literals.parse(text, at)
            if parsed is None:
                tries += 1
                at = _opening(text, at + 1)
                continue
            walk = Walk(self._known, nested=self._nested + 1)
            found += walk._edits_of(text, parsed[0], at, parsed[1]) or []
            at = _opening(text, parsed[1])
        return found

    def _edits_of(self, text: str, tree: Any, start: int, end: int) -> list[Edit] | None:
        """Return the edits of a part of a text that is the JSON of a tree."""
        try:
            self._visit(tree, _Place())
        except RecursionError:
            return None
        edits: list[Edit] = []
        places = literals.literals(text, start, end)
        for (first, last), decided in zip(places, self._decided, strict=True):
            if not decided:
                continue
            literal = text[first:last]
            if literal[0] == '"':
                edits += (
                    Edit(first + edit.start, first + edit.end, edit.text, edit.values)
                    for edit in literals.in_literal(literal, decided)
                )
            else:
                edits.append(Edit(first, last, f'"{MARKER}"', 1))
        return edits

    def _visit(self, value: Any, place: _Place) -> Any:
        found = value
        if isinstance(value, Members):
            self._has_doubles |= len({key for key, _ in value}) < len(value)
            found = self._object(value, value, place)
        elif isinstance(value, dict):
            members = list(value.items())
            new = self._object(value, members, place)
            found = value if new is value else dict(new)
        elif isinstance(value, list | tuple):
            found = self._array(value, place)
        elif isinstance(value, str) and not isinstance(value, Number):
            found = self._string(value, place)
        elif isinstance(value, Number | int | float) and not isinstance(value, bool):
            found = self._number(value, place)
        return found

    def _object(self, whole: Any, members: "list[tuple[Any, Any]]", place: _Place) -> Any:
        name = _name_of(members)
        private = _private_of(members)
        found: list[tuple[Any, Any]] = []
        is_same = True
        for key, value in members:
            new_key = self._key(key, place) if isinstance(key, str) else key
            inner = self._below(place, key, name)
            if key == private:
                inner = inner._replace(blanket=True)
            elif place.path[-1:] == ("properties",) and isinstance(value, dict | Members):
                inner = _Place(inner.path)  # of a schema: the key is no name of a value
            new = self._visit(value, inner)
            is_same = is_same and new is value and new_key is key
            found.append((new_key, new))
        return whole if is_same else found

    def _array(self, values: Any, place: _Place) -> Any:
        found = []
        is_same = True
        before = ""
        self._join_siblings(values, place)
        for number, value in enumerate(values):
            inner = place._replace(path=(*place.path, number))
            is_one = isinstance(value, str | int | float) and not str(value).startswith("-")
            if before and is_one:
                is_own = self._known.rules.has_name(before)
                inner = inner._replace(name=before, blanket=inner.blanket or is_own)
            new = self._visit(value, inner)
            is_same = is_same and new is value
            found.append(new)
            flag = _FLAG.fullmatch(value) if isinstance(value, str) else None
            before = flag[1] if flag is not None and self._says_secret(flag[1]) else ""
        return values if is_same else type(values)(found)

    def _join_siblings(self, values: Any, place: _Place) -> None:
        """Find what reaches from one block of text in a list into the next: chunks that were gathered."""
        texts_of = [_text_of(value) for value in values] if len(values) > 1 else []
        if sum(found is not None for found in texts_of) < 2:
            return
        pieces = [
            ((*place.path, number, *found[0]), found[1])
            for number, found in enumerate(texts_of)
            if found is not None
        ]
        parts = texts.find("".join(text for _, text in pieces), self._known)
        number = offset = 0
        for part in parts:
            start, is_first = part.start, part.is_first
            while start < part.end:
                path, text = pieces[number]
                end = min(part.end, offset + len(text))
                if start < end and (start > part.start or end < part.end):
                    cut = texts.Part(start - offset, end - offset, is_first, part.why)
                    self._crossing.setdefault(path, []).append(cut)
                is_first = is_first and start >= end
                start = max(start, end)
                if start < part.end:
                    offset += len(text)
                    number += 1

    def _says_secret(self, name: str) -> bool:
        return says_secret(name) or self._known.rules.has_name(name)

    def _below(self, place: _Place, key: Any, name: str) -> _Place:
        """Return the place of an object's member."""
        path = (*place.path, key)
        if not isinstance(key, str):
            return _Place(path, place.blanket)
        if name and key in _NAMES:
            return _Place(path)
        own = name if name and key == "value" else key
        if not name and (key == "value" or "." in key) and says_secret(place.name):
            own = place.name
        blanket = place.blanket or key.replace("_", "").replace("-", "").lower() in _BLANKETS
        if not blanket and self._known.rules.has_name(own):
            return _Place(path, blanket=True, name=own)
        return _Place(path, blanket, own if blanket is place.blanket else "")

    def _number(self, value: Any, place: _Place) -> Any:
        if not place.blanket:
            self._decided.append([])
            return value
        self._decided.append([Edit(0, 0, MARKER, 1)])
        self.blanked += 1
        self.places.append((place.path, 0, "place"))
        return MARKER

    def _key(self, key: str, place: _Place) -> str:
        shortest = min(_MIN_NESTED, self._known.rules.shortest)
        edits = self.text_edits(key) if len(key) >= shortest else []
        return self._take(key, edits, place.path)

    def _string(self, text: str, place: _Place) -> str:
        edits = self._decide(text, place)
        crossing = self._crossing.get(place.path) if self._crossing else None
        if crossing:
            edits = literals.ordered([*edits, *texts.as_edits(crossing)])
        return self._take(text, edits, place.path)

    def _take(self, text: str, edits: list[Edit], path: "Path") -> str:
        self._decided.append(edits)
        if not edits:
            return text
        self.blanked += sum(edit.values for edit in edits)
        self.places += ((path, edit.start, edit.why) for edit in edits if edit.values)
        return literals.apply(text, edits)

    def _decide(self, text: str, place: _Place) -> list[Edit]:
        """Return what becomes of a string."""
        if not text or text == MARKER:
            return []
        if place.blanket:
            return self._blanket(text, place.name)
        if place.name and says_secret(place.name) and _is_secret(text, place.name):
            self._known.add(text)
            return [Edit(0, len(text), MARKER, 1, "name")]
        cuts = self._cuts.get(place.path) if self._cuts and place.path else None
        if place.path and place.path[-1] in _BASE64_KEYS and place.path[-2:-1] not in _PLAIN_DATA:
            decoded = self._in_base64(text, cuts)
            if decoded is not None:
                return decoded
        if cuts is None:
            return self.text_edits(text)
        own = self.text_edits(text) if self._has_doubles else []
        return literals.ordered([*own, *texts.as_edits(cuts)])

    def _blanket(self, text: str, name: str) -> list[Edit]:
        """Return the edits of a value all of which is blanked, but for the name in ``NAME=value``."""
        values: list[str] = []
        texts.find(f"{name}: {text}", None, values)
        setting = None if name else _SETTING.match(text)
        start = 0 if setting is None else setting.end()
        value = text[start:]
        if says_secret(name or text[:start].rstrip("=: ")) or (
            " " not in value and is_dense(value)
        ):
            values.append(value)
        for found in values:
            self._known.add(found)
        return [Edit(start, len(text), MARKER, 1, "place")] if value not in ("", MARKER) else []

    def _in_base64(self, text: str, cuts: "list[texts.Part] | None") -> list[Edit] | None:
        """Return the edits of a string if it is base64 of a text or of a picture, else None."""
        if len(text) % 4 or not _BASE64.fullmatch(text):
            return None
        try:
            decoded = base64.b64decode(text, validate=True).decode("latin-1")
        except (binascii.Error, ValueError):
            return None
        edits: list[Edit] = []
        if cuts is not None:
            edits = texts.as_edits(cuts)
        elif len(_CONTROL.findall(decoded)) * 10 <= len(decoded):
            edits = self.text_edits(decoded)
        if not edits:
            return [] if len(text) >= _LONG_BASE64 else None
        again = base64.b64encode(literals.apply(decoded, edits).encode("latin-1")).decode()
        return [Edit(0, len(text), again, sum(edit.values for edit in edits), edits[0].why)]


def _opening(text: str, at: int) -> int:
    """Return where the next object with a member begins, -1 for nowhere."""
    found = _OPENING.search(text, at)
    return -1 if found is None else found.start()


def _name_of(members: "list[tuple[Any, Any]]") -> str:
    """Return what an object with a ``name`` and a ``value`` is called."""
    found = {key: value for key, value in members if isinstance(key, str)}
    if "value" not in found:
        return ""
    return next((found[key] for key in _NAMES if isinstance(found.get(key), str)), "")


def _private_of(members: "list[tuple[Any, Any]]") -> str | None:
    """Return the key under which a person is told apart: accounts, and answers to questions."""
    keys = {key: value for key, value in members if isinstance(key, str)}
    if isinstance(keys.get("state"), str) and "accounts" in keys:
        return "accounts"
    if isinstance(keys.get("action"), str) and isinstance(keys.get("content"), dict | Members):
        return "content"
    return None


def _text_of(value: Any) -> "tuple[Path, str] | None":
    """Return the text of a block of content, and where in the block it stands."""
    members = dict(value) if isinstance(value, Members) else value
    if not isinstance(members, dict):
        return None
    inner = members.get("content")
    if isinstance(inner, dict | Members):
        found = _text_of(inner)
        return None if found is None else (("content", *found[0]), found[1])
    text = members.get("text")
    if not isinstance(text, str) or isinstance(text, Number) or members.get("type") != "text":
        return None
    return ("text",), text


def _is_secret(text: str, name: str) -> bool:
    """Tell whether a string under a name that says secret is one, and no word or sentence."""
    if not may_be_secret(name, text):
        return False
    return is_quoted_secret(name, text) or _PIN.fullmatch(text) is not None
