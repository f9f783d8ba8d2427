"""What fits where an argument or option takes a name from the log; given as ``shell_complete``.

Nothing here prints, writes or waits: a log that cannot be read gives nothing. What peers sent
is left out where no shell could take it, and made harmless where it is only shown.
"""

import os
from typing import TYPE_CHECKING

from click.shell_completion import CompletionItem

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    import click

    from acp_proxy.log.names import Name, Names

    Items = list[CompletionItem[str]]
    Completer = Callable[[click.Context, click.Parameter, str], Items]
    Teller = Callable[[Names, click.Context, str], Iterable[Name]]

_LONGEST = 200  # of a value
_ABOUT = 60
_SHORTEST_UUID = 4  # so much of one is taken for a CONNECTION
_LATEST = "latest"


def _completer(tell: "Teller") -> "Completer":
    """Return what click wants of a function that tells names from an opened log."""

    def complete(ctx: "click.Context", param: "click.Parameter", incomplete: str) -> "Items":
        from acp_proxy.errors import AcpProxyError
        from acp_proxy.log.names import MOST, Names
        from acp_proxy.log.place import log_path

        found: dict[str, CompletionItem[str]] = {}
        try:
            given = ctx.params.get("log")
            path = log_path(None if given is None else os.path.expandvars(given))
            with Names(path) as names:
                for name in tell(names, ctx, incomplete):
                    if _is_takeable(name.value):
                        found.setdefault(name.value, _item(name))
                    if len(found) == MOST:
                        break
        except AcpProxyError:
            pass  # what was found by then is better than nothing
        return list(found.values())

    return complete


def _item(name: "Name") -> "CompletionItem[str]":
    from acp_proxy.views.safe_text import visible

    about = visible(name.about[:_LONGEST])
    about = about if len(about) <= _ABOUT else about[: _ABOUT - 1] + "…"
    return CompletionItem(name.value, help=about or None)


def _is_takeable(value: str) -> bool:
    """Tell whether a value can stand as an argument and be shown as it is."""
    from acp_proxy.views.safe_text import visible

    fits = 0 < len(value) <= _LONGEST and not value.startswith("-")
    return fits and visible(value) == value


def _connections(names: "Names", ctx: "click.Context", incomplete: str) -> "Iterator[Name]":
    from acp_proxy.log.names import Name
    from acp_proxy.views.tables import command_text, ended_text

    given = ctx.params.get("connections") or ()
    values = [_LATEST]
    for row in names.connections():
        values.append(str(row.id))
        if len(incomplete) >= _SHORTEST_UUID:
            values.append(row.uuid)
        about = " ".join(filter(None, (ended_text(row), row.label, command_text(row.command))))
        for value in values:
            if value.startswith(incomplete) and value not in given:
                yield Name(value, about)
        values = []


def _connection_of(ctx: "click.Context") -> str:
    """Return the connection that was named on the line."""
    place: tuple[str, ...] = ctx.params.get("place") or ()
    return (place[0] if len(place) > 1 else None) or ctx.params.get("connection") or _LATEST


def _of(what: str) -> "Completer":
    return _completer(lambda names, ctx, begin: names.of(what, _connection_of(ctx), begin))


def _place(tell: "Callable[[Names, str, str], Iterable[Name]]") -> "Completer":
    """Return what completes ``[CONNECTION] ID``: the first word may be either."""

    def complete(names: "Names", ctx: "click.Context", begin: str) -> "Iterator[Name]":
        place: tuple[str, ...] = ctx.params.get("place") or ()
        if len(place) > 1:
            return
        yield from tell(names, place[0] if place else _LATEST, begin)
        if not place:
            yield from _connections(names, ctx, begin)

    return _completer(complete)


def path_name(ctx: "click.Context", param: "click.Parameter", incomplete: str) -> "Items":
    """Leave it to the shell to complete a file."""
    return [CompletionItem(incomplete, type="file")]


def wrapped_command(ctx: "click.Context", param: "click.Parameter", incomplete: str) -> "Items":
    """Offer agents' short names, and leave it to the shell to complete a program."""
    from acp_proxy.agents import KNOWN, choose
    from acp_proxy.cli.completion.shells import split
    from acp_proxy.settings import load_leniently

    program = CompletionItem("0", type="command")
    if "--" in split(os.environ.get("COMP_WORDS", ""))[0]:  # then it is a command, verbatim
        return [program]
    own = load_leniently()[0].agents
    names = [name for name in dict.fromkeys([*own, *KNOWN]) if name.startswith(incomplete)]
    choices = {name: choose(name, own) for name in names}
    return [
        program,
        *(
            CompletionItem(name, help=KNOWN[name].title if name not in own else None)
            for name, choice in choices.items()
            if choice is not None and choice.found
        ),
    ]


connections = _completer(_connections)
labels = _completer(lambda names, _ctx, begin: names.labels(begin))
seqs = _completer(lambda names, ctx, begin: names.messages(_connection_of(ctx), begin))
sessions = _of("sessions")
tool_calls = _of("tool_calls")
tool_call_statuses = _of("statuses")
tool_call_kinds = _of("kinds")
terminals = _of("terminals")
methods = _of("methods")
updates = _of("updates")
place_of_tool_call = _place(lambda names, of, begin: names.of("tool_calls", of, begin))
place_of_terminal = _place(lambda names, of, begin: names.of("terminals", of, begin))
place_of_message = _place(lambda names, of, begin: names.messages(of, begin))
