"""``acp-proxy prune``: delete connections from the log."""

import shlex
import sys
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, NamedTuple

import click

from acp_proxy.cli.completion import candidates
from acp_proxy.cli.failures import failing_plainly
from acp_proxy.cli.options import (
    echo_page,
    json_option,
    log_option,
    own_log,
    warn_of,
)
from acp_proxy.cli.progress import progress
from acp_proxy.log.retention import Limits, parse_age, parse_size
from acp_proxy.recorder.leftovers import settle
from acp_proxy.recording import open_recording

if TYPE_CHECKING:
    from acp_proxy.log.pruning import Freed, Survey
    from acp_proxy.log.retention import Choice
    from acp_proxy.log.rows import ConnectionRow
    from acp_proxy.log.upkeep import Upkeep
    from acp_proxy.log.vacuum import Vacuumed


class Given(NamedTuple):
    """A limit as it was typed, and what that means."""

    text: str
    value: int


class Limit(click.ParamType[Given]):
    """An age or a size."""

    def __init__(self, name: str, parse: Callable[[str], int]) -> None:
        self.name = name
        self._parse = parse

    def convert(
        self, value: str, param: click.Parameter | None, ctx: click.Context | None
    ) -> Given:
        """Return what a text says."""
        try:
            return Given(value, self._parse(value))
        except ValueError as error:
            self.fail(str(error), param, ctx)


AGE = Limit("age", parse_age)
SIZE = Limit("size", parse_size)


@click.command()
@click.argument("connections", nargs=-1, shell_complete=candidates.connections)
@log_option
@click.option(
    "--older-than", type=AGE, metavar="AGE", help="What was last active longer ago (30d)."
)
@click.option(
    "--to-size", type=SIZE, metavar="SIZE", help="The oldest, until the log holds no more (2G)."
)
@click.option("--keep-last", type=click.IntRange(min=1), metavar="N", help="But never the last N.")
@click.option("--yes", is_flag=True, help="Delete. Without it, what would go is told.")
@click.option("--vacuum", is_flag=True, help="Give the space back too, as log vacuum does.")
@json_option
def prune(
    connections: tuple[str, ...],
    log: str | None,
    older_than: Given | None,
    to_size: Given | None,
    keep_last: int | None,
    yes: bool,
    vacuum: bool,
    as_json: bool,
) -> None:
    """Delete CONNECTIONS, or those that limits choose, for good.

    Without --yes it only tells what would go; at a terminal it asks. A connection goes
    when any limit says so. With CONNECTIONS only these may go, all of them when there
    is no limit; --keep-last as the only limit means all but the last N. What is
    running, or waits in a journal, always stays.
    """
    from acp_proxy.views.jsonlines import dumps
    from acp_proxy.views.upkeep import choice_parts, freed_page, pruning_document

    given = {"--older-than": older_than, "--to-size": to_size}
    words = [*connections, *(w for name, one in given.items() if one for w in (name, one.text))]
    words += [] if keep_last is None else ["--keep-last", str(keep_last)]
    if not words:
        raise click.UsageError("say what: CONNECTIONS, --older-than, --to-size or --keep-last")
    limits = Limits(older_than and older_than.value, to_size and to_size.value, keep_last or 0)
    freed = left = None
    with failing_plainly():
        path = own_log(log)
        warn_of(settle(path))
        found, choice, rows = _chosen(path, connections, limits)
        if not as_json:
            echo_page(*choice_parts(choice, found, rows))
        todo = bool(choice.going or found.unfinished)
        if todo and (yes or (not as_json and _is_wanted())):
            freed, left = _delete(path, choice, shlex.join(["prune", *words]), vacuum=vacuum)
    if as_json:
        click.echo(dumps(pruning_document(choice, found, freed, left)))
    elif freed is not None:
        click.echo(freed_page(freed, left))
    elif todo:
        click.echo("nothing was deleted: --yes does it")
    if connections and choice.staying:
        sys.exit(1)


def _chosen(
    path: str, connections: Sequence[str], limits: Limits
) -> "tuple[Survey, Choice, list[ConnectionRow]]":
    from acp_proxy.log.pruning import chosen

    with open_recording(path) as recording:
        named = {recording.connection(word).id for word in connections} if connections else None
        found, choice = chosen(path, limits, named)
        going = {one.id for one in choice.going}
        return found, choice, [row for row in recording.connections() if row.id in going]


def _is_wanted() -> bool:
    """Ask, where somebody can answer."""
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        return False
    return click.confirm("delete this for good?")


def _delete(
    path: str, choice: "Choice", why: str, *, vacuum: bool
) -> "tuple[Freed, Vacuumed | None]":
    from acp_proxy.log.pruning import prune as delete
    from acp_proxy.log.pruning import rows_to_delete
    from acp_proxy.log.upkeep import Upkeep

    with Upkeep(path) as upkeep:
        with progress("counting"):
            total = rows_to_delete(upkeep, choice.going)
        with progress("deleting", total, " rows") as advance:
            freed = delete(upkeep, choice.going, why, thoroughly=vacuum, advance=advance)
        return freed, give_back(upkeep) if vacuum else None


def give_back(upkeep: "Upkeep", *, make_incremental: bool = False) -> "Vacuumed":
    """Give the free space of a log back, and show how far that is.

    Args:
        upkeep: The log.
        make_incremental: As for ``log.vacuum.vacuum``.

    """
    from acp_proxy.log.vacuum import is_incremental, vacuum

    free = upkeep.free_bytes() if is_incremental(upkeep) else None
    with progress("vacuuming", free, "B" if free else "") as advance:
        return vacuum(upkeep, make_incremental=make_incremental, advance=advance)
