"""Terminals of all three owners: upserted, their bytes replaced or appended to (docs/protocol.md: Terminals)."""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from acp_proxy.events.event import MetaRule, Unset
from acp_proxy.state.growing import Output
from acp_proxy.state.patching import become, no_meta, patched, patched_meta

if TYPE_CHECKING:
    from acp_proxy.events.vocabulary import TerminalCreated, TerminalOutputAdded, TerminalUpdated
    from acp_proxy.state.sessions import Session


@dataclass(slots=True)
class Terminal:
    """One terminal; None is "no value".

    Attributes:
        owner: ``agent``, ``client`` or ``meta``.
        output: All its bytes; None when they are unknown.
        output_meta: The ``_meta`` of the last snapshot.
        exit_status: An object exactly when it has exited.
        renewed: The replay window in which its output was cleared or replaced already.

    """

    owner: str
    terminal_id: str
    first_seq: int
    last_seq: int
    command: str | None = None
    args: list[Any] | None = None
    cwd: str | None = None
    output_byte_limit: int | None = None
    size: dict[str, Any] | None = None
    capabilities: dict[str, Any] | None = None
    output: Output | None = None
    output_meta: Any = None
    truncated: bool | None = None
    exit_status: dict[str, Any] | None = None
    killed: bool = False
    released: bool = False
    meta: dict[str, Any] = field(default_factory=no_meta)
    renewed: int | None = None
    number: int = 0


def updated(session: "Session", event: "TerminalUpdated") -> None:
    """Upsert a terminal."""
    terminal = _mentioned(session, event.owner.value, event.terminal_id, event.seq)
    terminal.command = patched(terminal.command, event.command)
    terminal.args = patched(terminal.args, event.args)
    terminal.cwd = patched(terminal.cwd, event.cwd)
    terminal.output_byte_limit = patched(terminal.output_byte_limit, event.output_byte_limit)
    terminal.size = patched(terminal.size, event.size)
    terminal.capabilities = patched(terminal.capabilities, event.capabilities)
    terminal.truncated = patched(terminal.truncated, event.truncated)
    terminal.exit_status = patched(terminal.exit_status, event.exit_status)
    terminal.killed = patched(terminal.killed, event.killed)
    terminal.released = patched(terminal.released, event.released)
    terminal.meta = patched_meta(terminal.meta, event.meta, MetaRule.PATCH)
    if not isinstance(event.output, Unset):
        terminal.output = None if event.output is None else Output(event.output)
        terminal.output_meta = patched(None, event.output_meta)
        terminal.renewed = session.window


def created(session: "Session", event: "TerminalCreated") -> None:
    """Make a terminal; an older one of that id is forgotten, its place in the list is kept."""
    key = (event.owner.value, event.terminal_id)
    known = session.terminals.get(key)
    if known is not None:
        become(known, Terminal(*key, known.first_seq, event.seq, number=known.number))
    updated(session, event)


def output_added(session: "Session", event: "TerminalOutputAdded") -> None:
    """Append bytes; that makes the terminal when it is new, and its output known."""
    terminal = _mentioned(session, event.owner.value, event.terminal_id, event.seq)
    if terminal.output is None:
        terminal.output = Output()
    elif session.replays(terminal.first_seq, terminal.renewed):
        terminal.output = Output()
        terminal.output_meta = None
    terminal.renewed = session.window
    terminal.output.append(event.data)


def _mentioned(session: "Session", owner: str, id_: str, seq: int) -> Terminal:
    key = (owner, id_)
    terminal = session.terminals.get(key)
    if terminal is None:
        terminal = session.terminals[key] = Terminal(owner, id_, seq, seq)
    terminal.last_seq = seq
    session.touch(terminal)
    return terminal
