"""How figures look: spreads, units, verdicts, the table and the line about the machine.

Only text is made here; nothing is measured and no process is started.
"""

import os
import platform
import statistics
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

HEADINGS = ("figure", "direct", "bare", "proxy", "/ bare", "/ direct", "target", "")
NOT_AVAILABLE = "n/a"


@dataclass(frozen=True)
class Spread:
    """What several runs gave for one figure."""

    values: tuple[float, ...]

    @property
    def median(self) -> float:
        return statistics.median(self.values)

    def against(self, base: "Spread") -> "Spread":
        """Return the ratios of runs that stood beside each other."""
        return Spread(tuple(a / b for a, b in zip(self.values, base.values, strict=False) if b))

    def minus(self, base: "Spread") -> "Spread":
        """Return the differences of runs that stood beside each other."""
        return Spread(tuple(a - b for a, b in zip(self.values, base.values, strict=False)))

    def show(self, unit: "Unit") -> str:
        """Write the median, and the smallest and largest value if there are several."""
        size, suffix = unit.fitting(self.median)
        middle, *ends = (
            f"{value / size:#.3g}".rstrip(".")
            for value in (self.median, min(self.values), max(self.values))
        )
        return middle + suffix + (f" ({'-'.join(ends)})" if len(self.values) > 1 else "")


@dataclass(frozen=True)
class Unit:
    """A unit in several sizes, largest first."""

    sizes: tuple[tuple[float, str], ...]

    def fitting(self, value: float) -> tuple[float, str]:
        """Return the size that this value reads best in."""
        return next((it for it in self.sizes if abs(value) >= it[0]), self.sizes[-1])

    def show(self, value: float) -> str:
        """Write one value."""
        return Spread((value,)).show(self)


TIMES = Unit(((1, "x"),))
SECONDS = Unit(((1, " s"), (1e-3, " ms"), (1e-6, " µs")))
PER_SECOND = Unit(((1e6, " M/s"), (1e3, " k/s")))
MEGABYTES = Unit(((1e6, " MB"),))


@dataclass(frozen=True)
class Target:
    """What design.md asks of a figure; ``met`` is None where there is nothing to judge."""

    text: str
    met: bool | None

    @property
    def verdict(self) -> str:
        return {True: "ok", False: "short", None: ""}[self.met]


NO_TARGET = Target("", None)


@dataclass(frozen=True)
class Row:
    """One line of the table."""

    figure: str
    direct: str = ""
    bare: str = ""
    proxy: str = NOT_AVAILABLE
    to_bare: str = ""
    to_direct: str = ""
    target: Target = NO_TARGET

    def cells(self) -> tuple[str, ...]:
        """Return the text of each column, in the order of HEADINGS."""
        return (
            *(self.figure, self.direct, self.bare, self.proxy, self.to_bare, self.to_direct),
            *(self.target.text, self.target.verdict),
        )


Runs = dict[str, list[float]]


def compared(
    figure: str,
    runs: Runs,
    unit: Unit,
    judge: Callable[[dict[str, Spread]], Target] | None = None,
) -> Row:
    """Make a row of the same figure taken on several routes, with its ratios.

    ``judge`` is called only when the proxy was measured.
    """
    spreads = {route: Spread(tuple(values)) for route, values in runs.items() if values}
    shown = {route: spread.show(unit) for route, spread in spreads.items()}
    proxy = spreads.get("proxy")
    ratios = {
        route: proxy.against(base).show(TIMES)
        for route, base in spreads.items()
        if proxy and route != "proxy"
    }
    return Row(
        figure,
        shown.get("direct", ""),
        shown.get("bare", ""),
        shown.get("proxy", NOT_AVAILABLE),
        ratios.get("bare", ""),
        ratios.get("direct", ""),
        judge(spreads) if judge and proxy else NO_TARGET,
    )


def at_most(value: float, limit: float, text: str) -> Target:
    """Judge a figure that should be small."""
    return Target(text, value <= limit)


def at_least(value: float, limit: float, text: str) -> Target:
    """Judge a figure that should be large."""
    return Target(text, value >= limit)


def table(rows: Iterable[Row]) -> str:
    """Lay the rows out under their headings."""
    lines: list[Sequence[str]] = [HEADINGS, *(row.cells() for row in rows)]
    widths = [max(len(line[column]) for line in lines) for column in range(len(HEADINGS))]
    lines.insert(1, ["-" * width for width in widths])
    return "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip()
        for line in lines
    )


def machine(scratch: Path) -> str:
    """Describe in one line what the figures were taken on."""
    model = "unknown CPU"
    cpuinfo = Path("/proc/cpuinfo")
    if cpuinfo.exists():
        names = [line for line in cpuinfo.read_text().splitlines() if line.startswith("model name")]
        model = names[0].partition(":")[2].strip() if names else model
    return (
        f"{os.cpu_count()} cores, {model}, {platform.python_implementation()} "
        f"{platform.python_version()}, {platform.system()} {platform.release()}, "
        f"logs on {_filesystem(scratch)}, load {os.getloadavg()[0]:.1f}"
    )


def _filesystem(folder: Path) -> str:
    mounts = Path("/proc/mounts")
    if not mounts.exists():
        return "an unknown file system"
    kinds = [line.split()[1:3] for line in mounts.read_text().splitlines()]
    homes = [(place, kind) for place, kind in kinds if folder.resolve().is_relative_to(place)]
    return max(homes, key=lambda home: len(home[0]))[1] if homes else "an unknown file system"
