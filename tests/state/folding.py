"""A conversation folded as it is spoken: what was said in, the state's JSON form out."""

from __future__ import annotations

import json
from typing import Any

from acp_proxy.events.decoder import Decoder
from acp_proxy.state.checkpoints import Checkpointer
from acp_proxy.state.fold import State
from acp_proxy.state.snapshot import Stored, restore
from acp_proxy.views.state_json import state_document, state_text
from acp_proxy.wire.jsonrpc import Direction, classify


class Kept:
    """What the checkpoints of one connection hold together."""

    def __init__(self) -> None:
        self._stored: dict[int, Stored] = {}

    def restarted(self, state: State, decoder: Decoder) -> tuple[State, Decoder]:
        """Take a checkpoint and return what all of them give; the state cannot be read any more."""
        assert state.changed is not None
        checkpointer = Checkpointer()
        checkpointer.note(state.changed)
        for part in checkpointer.take(state, decoder):
            if part.head is None:
                self._stored.pop(part.key, None)
                continue
            tails = [] if part.since == part.seq else self._stored[part.key].tails
            tails = tails if part.tail is None else [*tails, part.tail]
            self._stored[part.key] = Stored(part.key, part.since, part.head, tails)
        restored = restore([self._stored[key] for key in sorted(self._stored)])
        restored[0].watch()
        return restored


class Folding:
    """Speaks to one Decoder and State; keeps every note."""

    def __init__(self, version: int | None = None) -> None:
        self.decoder = Decoder()
        self.state = State()
        self.state.watch()
        self.kept = Kept()
        self.notes: list[str] = []
        if version is not None:
            self.ask("initialize", {"protocolVersion": version}, {"protocolVersion": version})

    def line(self, direction: Direction, raw: bytes) -> None:
        """Fold a line."""
        for message in classify(raw, as_written=True):
            for event in self.decoder.add(direction, message):
                self.notes += event.notes
                self.state.apply(event)

    def say(self, direction: Direction, **message: Any) -> None:
        """Fold one message."""
        self.line(direction, json.dumps({"jsonrpc": "2.0", **message}).encode())

    def client(self, **message: Any) -> None:
        """Let the client say one message."""
        self.say(Direction.CLIENT, **message)

    def agent(self, **message: Any) -> None:
        """Let the agent say one message."""
        self.say(Direction.AGENT, **message)

    def ask(self, method: str, params: Any, result: Any, asker: str = "client") -> None:
        """Let one side ask and the other answer."""
        by, to = (self.client, self.agent) if asker == "client" else (self.agent, self.client)
        by(id="x", method=method, params=params)
        to(id="x", result=result)

    def update(self, tag: str, session: str = "s", /, **fields: Any) -> None:
        """Let the agent send a ``session/update``."""
        update = {"sessionUpdate": tag, **fields}
        self.agent(method="session/update", params={"sessionId": session, "update": update})

    def restart(self) -> None:
        """Save what was changed since the last time, and go on from all that was saved."""
        self.state, self.decoder = self.kept.restarted(self.state, self.decoder)

    def document(self) -> dict[str, Any]:
        """Return the state as JSON gives it."""
        found: dict[str, Any] = json.loads(state_text(state_document(self.state, 1)))
        return found

    def session(self, session: str = "s") -> dict[str, Any]:
        """Return a session."""
        [found] = [one for one in self.document()["sessions"] if one["sessionId"] == session]
        return dict(found)

    def call(self, id_: str = "t") -> dict[str, Any]:
        """Return a tool call without its seqs."""
        return _of(self.session()["toolCalls"], "toolCallId", id_)

    def terminal(self, id_: str = "x", owner: str = "agent") -> dict[str, Any]:
        """Return a terminal without its seqs."""
        of_owner = [one for one in self.session()["terminals"] if one["owner"] == owner]
        return _of(of_owner, "terminalId", id_)

    def texts(self) -> list[tuple[str, str]]:
        """Return the messages as role and text, chunks parted by a bar."""
        return [
            (message["role"], "|".join(block.get("text", "?") for block in message["content"]))
            for message in self.session()["messages"]
        ]


def _of(things: list[dict[str, Any]], key: str, id_: str) -> dict[str, Any]:
    [found] = [thing for thing in things if thing[key] == id_]
    return {name: value for name, value in found.items() if name not in ("firstSeq", "lastSeq")}


def text(words: str) -> dict[str, Any]:
    """Return a text block."""
    return {"type": "text", "text": words}


def item(words: str) -> dict[str, Any]:
    """Return an item of a tool call's content."""
    return {"type": "content", "content": text(words)}
