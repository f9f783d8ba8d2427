"""A conversation for a Decoder: what was said in, its events out."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from acp_proxy.events.decoder import Decoder
from acp_proxy.wire.jsonrpc import Direction, classify

if TYPE_CHECKING:
    from acp_proxy.events.event import Event


class Decoding:
    """Speaks to one Decoder."""

    def __init__(self, version: int | None = None) -> None:
        self.decoder = Decoder()
        if version is not None:
            self.ask("initialize", {"protocolVersion": version}, {"protocolVersion": version})

    def line(self, direction: Direction, raw: bytes) -> list[Event]:
        """Return the events of a line."""
        return [
            event for message in classify(raw) for event in self.decoder.add(direction, message)
        ]

    def client(self, **message: Any) -> list[Event]:
        """Let the client say one message."""
        return self.line(Direction.CLIENT, json.dumps({"jsonrpc": "2.0", **message}).encode())

    def agent(self, **message: Any) -> list[Event]:
        """Let the agent say one message."""
        return self.line(Direction.AGENT, json.dumps({"jsonrpc": "2.0", **message}).encode())

    def ask(self, method: str, params: Any, result: Any, asker: str = "client") -> list[Event]:
        """Let one side ask and the other answer; return the events of the answer."""
        by, to = (self.client, self.agent) if asker == "client" else (self.agent, self.client)
        by(id="x", method=method, params=params)
        return to(id="x", result=result)

    def update(self, tag: str, /, **fields: Any) -> list[Event]:
        """Let the agent send a ``session/update``."""
        update = {"sessionUpdate": tag, **fields}
        return self.agent(method="session/update", params={"sessionId": "s", "update": update})

    def permission(self, **params: Any) -> list[Event]:
        """Let the agent ask for permission."""
        whole = {"sessionId": "s", "options": [], **params}
        return self.agent(id="p", method="session/request_permission", params=whole)
