"""Read what an ACP client and agent said to each other.

>>> from acp_proxy import open_recording          # doctest: +SKIP
>>> with open_recording("work.db") as recording:  # doctest: +SKIP
...     [message.method for message in recording.messages("latest", kind="request")]
['initialize', 'session/new', 'session/prompt']

Recording is :func:`acp_proxy.proxy.run_proxy`, or ``acp-proxy run`` on the command line.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from acp_proxy.errors import AcpProxyError
    from acp_proxy.events.decoder import decode
    from acp_proxy.events.event import Event
    from acp_proxy.recording import Recording, open_recording
    from acp_proxy.state.fold import State, fold
    from acp_proxy.wire.framing import LineFramer
    from acp_proxy.wire.jsonrpc import Direction, Message, classify

__all__ = [
    "AcpProxyError",
    "Direction",
    "Event",
    "LineFramer",
    "Message",
    "Recording",
    "State",
    "classify",
    "decode",
    "fold",
    "open_recording",
]

__version__ = "0.1.0"

_HOMES = {
    "AcpProxyError": "acp_proxy.errors",
    "Direction": "acp_proxy.wire.jsonrpc",
    "Event": "acp_proxy.events.event",
    "LineFramer": "acp_proxy.wire.framing",
    "Message": "acp_proxy.wire.jsonrpc",
    "Recording": "acp_proxy.recording",
    "State": "acp_proxy.state.fold",
    "classify": "acp_proxy.wire.jsonrpc",
    "decode": "acp_proxy.events.decoder",
    "fold": "acp_proxy.state.fold",
    "open_recording": "acp_proxy.recording",
}


def __getattr__(name: str) -> object:
    """Import a public name when it is first used: ``acp-proxy run`` must not pay for all of them."""
    from importlib import import_module  # noqa: PLC0415 - the same reason

    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(home), name)
