"""Secrets that frames cut in pieces: what chunks say is joined again, and looked at as one text.

Joined are the chunks of a message, thought, tool call or compaction, the output of a terminal,
standard error, and what is no JSON. Of each only a window is kept, so that memory is bounded; a
window overlaps the one before it.
"""

import base64
import binascii
import json
import re
from collections import OrderedDict
from typing import TYPE_CHECKING, Any, NamedTuple

import orjson

from acp_proxy.redaction import texts

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterator

Path = tuple[str | int, ...]
"""Where in a frame a string stands; the empty one stands for a frame that is text."""
FrameCuts = dict[Path, list[texts.Part]]
"""What is to be blanked in a frame's strings."""
Cuts = dict[int, FrameCuts]
"""Of each frame, by its seq."""

_WINDOW = 8192  # characters that are new when a window is looked at
_OVERLAP = 4096  # and of those before
_MAX_OVERLAP = 256 * 1024  # when a secret reaches to the window's end
_NEAR_END = 128
_MAX_STREAMS = 256
_UPDATE: Path = ("params", "update")
_CONTENT: Path = ("content",)
_TEXT: Path = (*_UPDATE, *_CONTENT, "text")
# How nearly all chunks are written: what it fits is read without parsing the whole frame.
_STRING = rb'"([^"\\\x00-\x1f]*+(?:\\.[^"\\\x00-\x1f]*+)*+)"'
_PLAIN_CHUNK = re.compile(
    rb'\{"jsonrpc":"2\.0","method":"session/update","params":\{"sessionId":'
    + _STRING
    + rb',"update":\{"sessionUpdate":"((?:user_message|agent_message|agent_thought)_chunk)",'
    rb'"content":\{"type":"text","text":' + _STRING + rb"\}\}\}\}\r?\n?"
)
_PLAIN_ID = re.compile(rb"[A-Za-z0-9_-]{1,15}|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_META = ("terminal_output", "terminal_output_delta")
_IDS = ("messageId", "toolCallId", "compactionId")


def joined_paths(stream: str, raw: bytes) -> list[Path]:
    """Return where in a frame texts stand that are joined with those of other frames."""
    if stream != "stderr" and _PLAIN_CHUNK.fullmatch(raw):
        return [_TEXT]
    return [piece.path for piece, _ in Joins(lambda _: [])._pieces(0, stream, raw)]


def is_plain_chunk(stream: str, raw: bytes) -> bool:
    """Tell whether a frame is a chunk with nothing in it but its session and its text."""
    found = _PLAIN_CHUNK.fullmatch(raw) if stream != "stderr" else None
    return found is not None and _PLAIN_ID.fullmatch(found[1]) is not None


class _Piece(NamedTuple):
    seq: int
    path: Path
    text: str
    skipped: int  # characters of the string before the text


class _Stream:
    """The last pieces of one joined text."""

    def __init__(self) -> None:
        self.pieces: list[_Piece] = []
        self.fresh = 0


class Joins:
    """Follows the joined texts of a connection."""

    def __init__(self, find: "Callable[[str], list[texts.Part]]") -> None:
        self._find = find
        self._streams: OrderedDict[Hashable, _Stream] = OrderedDict()
        self._cuts: Cuts = {}
        self._kinds: dict[Any, tuple[Any, int]] = {}  # of a session, its last chunk's kind

    def add(self, seq: int, stream: str, raw: bytes) -> None:
        """Add a frame."""
        plain = _PLAIN_CHUNK.fullmatch(raw) if stream != "stderr" else None
        if plain is not None and (found := self._plain(seq, plain)) is not None:
            self._join(found[1], found[0])
            return
        for piece, key in self._pieces(seq, stream, raw):
            self._join(key, piece)

    def _plain(self, seq: int, chunk: re.Match[bytes]) -> "tuple[_Piece, tuple[Any, ...]] | None":
        """Return what a plain chunk adds to which joined text, as ``_pieces``; None: parse it."""
        session, kind, text = chunk.groups()
        try:
            words = [orjson.loads(b'"%b"' % word) for word in (session, text)]
        except orjson.JSONDecodeError:
            return None
        name = kind.decode()
        return _Piece(seq, _TEXT, words[1], 0), (words[0], *self._key(words[0], name, {}))

    def _pieces(
        self, seq: int, stream: str, raw: bytes
    ) -> "Iterator[tuple[_Piece, tuple[Any, ...]]]":
        """Yield what a frame adds to joined texts, and to which."""
        if stream == "stderr" or not _may_be_json(raw):
            yield _Piece(seq, (), raw.decode("latin-1"), 0), (stream,)
            return
        if b'_chunk"' not in raw and b"terminal_" not in raw:
            return
        message = _loads(raw)
        if isinstance(message, list):
            for number, member in enumerate(message):
                yield from self._message(seq, member, (number,))
        else:
            yield from self._message(seq, message, ())

    def close(self) -> Cuts:
        """Return what is to be blanked."""
        for stream in self._streams.values():
            self._look(stream)
        for cuts in self._cuts.values():
            for path, parts in cuts.items():
                cuts[path] = texts.merged(parts)
        return self._cuts

    def _message(
        self, seq: int, message: Any, path: Path
    ) -> "Iterator[tuple[_Piece, tuple[Any, ...]]]":
        params = message.get("params") if isinstance(message, dict) else None
        update = params.get("update") if isinstance(params, dict) else None
        if not isinstance(update, dict):
            return
        session = params.get("sessionId") if isinstance(params, dict) else None
        if not isinstance(session, str):
            session = None
        path = (*path, *_UPDATE)
        for key, inner, text in self._texts(session, update):
            yield _Piece(seq, (*path, *inner), text, 0), (session, *key)

    def _texts(
        self, session: str | None, update: dict[str, Any]
    ) -> "Iterator[tuple[tuple[Any, ...], Path, str]]":
        """Yield what an update adds to which joined text."""
        kind = update.get("sessionUpdate")
        if kind in ("terminal_output_chunk", "terminal_update"):
            yield from _terminal(update)
        elif isinstance(kind, str) and kind.endswith("_chunk"):
            content, inner = update.get("content"), _CONTENT
            if isinstance(content, dict) and isinstance(content.get("content"), dict):
                content, inner = content["content"], (*inner, "content")
            if isinstance(content, dict) and isinstance(content.get("text"), str):
                key = self._key(session, kind, update)
                yield key, (*inner, "text"), content["text"]
        meta = update.get("_meta")
        for name in _META:
            part = meta.get(name) if isinstance(meta, dict) else None
            if isinstance(part, dict) and isinstance(part.get("data"), str):
                yield ("meta", str(part.get("terminal_id"))), ("_meta", name, "data"), part["data"]

    def _key(self, session: str | None, kind: str, update: dict[str, Any]) -> tuple[Any, ...]:
        """Return which joined text a chunk belongs to; without an id, as long as its kind goes on."""
        id_ = next((update[name] for name in _IDS if isinstance(update.get(name), str)), None)
        last, number = self._kinds.get(session, (None, 0))
        if last != kind:
            number += 1
            self._kinds[session] = (kind, number)
        return (kind, number if id_ is None else id_)

    def _join(self, key: "Hashable", piece: _Piece) -> None:
        stream = self._streams.get(key)
        if stream is None:
            stream = self._streams[key] = _Stream()
            if len(self._streams) > _MAX_STREAMS:
                self._look(self._streams.popitem(last=False)[1])
        else:
            self._streams.move_to_end(key)
        if piece.text:
            stream.pieces.append(piece)
            stream.fresh += len(piece.text)
            if stream.fresh >= _WINDOW:
                self._look(stream)

    def _look(self, stream: _Stream) -> None:
        """Find the secrets of a window, and keep the end of it for the next one."""
        text = "".join(piece.text for piece in stream.pieces)
        parts = self._find(text)
        self._distribute(stream.pieces, parts)
        keep = max(len(text) - _OVERLAP, 0)
        if parts and parts[-1].end > len(text) - _NEAR_END:
            first = next(part for part in reversed(parts) if part.is_first)
            keep = max(min(keep, first.start - _NEAR_END), len(text) - _MAX_OVERLAP, 0)
        keep = max(text.rfind(" ", max(keep - _NEAR_END, 0), keep), 0) or keep
        kept: list[_Piece] = []
        end = len(text)
        for piece in reversed(stream.pieces):
            start = end - len(piece.text)
            if start < keep:
                cut = keep - start
                if cut < len(piece.text):
                    kept.append(piece._replace(text=piece.text[cut:], skipped=piece.skipped + cut))
                break
            kept.append(piece)
            end = start
        stream.pieces = kept[::-1]
        stream.fresh = 0

    def _distribute(self, pieces: list[_Piece], parts: list[texts.Part]) -> None:
        """Note for each piece what is to be blanked in it."""
        number = offset = 0
        for part in parts:
            start, is_first = part.start, part.is_first
            while start < part.end:
                piece = pieces[number]
                end = min(part.end, offset + len(piece.text))
                if start < end:
                    shift = piece.skipped - offset
                    cuts = self._cuts.setdefault(piece.seq, {})
                    cut = texts.Part(start + shift, end + shift, is_first, part.why)
                    cuts.setdefault(piece.path, []).append(cut)
                    start, is_first = end, False
                if start < part.end:
                    offset += len(piece.text)
                    number += 1


def _loads(raw: bytes) -> Any:
    """Return a frame's value, None when it has none; half an emoji at a chunk's end is none to orjson."""
    try:
        return orjson.loads(raw)
    except orjson.JSONDecodeError:
        try:
            return json.loads(raw)
        except (ValueError, RecursionError):
            return None


def _may_be_json(raw: bytes) -> bool:
    """Tell whether a frame is JSON, seen from its ends; a string alone is looked at whole."""
    text = raw.strip()
    if text[:1] == b'"' == text[-1:]:
        try:
            orjson.loads(text)
        except orjson.JSONDecodeError:
            return False
        return True
    return text[:1] + text[-1:] in (b"{}", b"[]")


def _terminal(update: dict[str, Any]) -> "Iterator[tuple[tuple[Any, ...], Path, str]]":
    """Yield the output in an update of a terminal, as bytes."""
    key = ("terminal", str(update.get("terminalId")))
    output = update.get("output")
    inner: tuple[tuple[Path, Any], ...] = ((("data",), update.get("data")),)
    if isinstance(output, dict):
        inner = ((("output", "data"), output.get("data")),)
    for path, data in inner:
        if isinstance(data, str):
            try:
                yield key, path, base64.b64decode(data, validate=True).decode("latin-1")
            except (binascii.Error, ValueError):
                continue
