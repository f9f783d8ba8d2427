"""What commands say of a damaged log, and which of it should never be."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from tests.fuzz.samples import Said, ask

if TYPE_CHECKING:
    import random
    from pathlib import Path

    from tests.fuzz.samples import Sample

_MOST_COMMANDS = 25
_OURS = re.compile(r"(acp-proxy: |Usage: )")
_RAW = re.compile(r"Traceback|<class |Error\(|\bError: ")
_ALWAYS = re.compile(
    r"^acp-proxy: (\d+ values? blanked; --raw.*|nothing was blanked)\n", re.MULTILINE
)


class Verdict(NamedTuple):
    """What came of one damage.

    Attributes:
        faults: What should never be: a command, and what is wrong.
        silent: Commands that gave another answer without a word; ``verify`` told of it.
        told: How many commands told of damage.
        same: How many gave the answer of the sound log.

    """

    faults: list[str]
    silent: list[str]
    told: int
    same: int


def judge(sample: Sample, log: Path, chance: random.Random) -> Verdict:
    """Ask a damaged copy of a log some things; what is silently wrong must be told by ``verify``."""
    chosen = chance.sample(sorted(sample.said), min(_MOST_COMMANDS, len(sample.said)))
    sample = sample._replace(said={words: sample.said[words] for words in chosen})
    faults: list[str] = []
    silent: list[str] = []
    told = same = 0
    for words, right in sample.said.items():
        found = ask(words, log)
        if problem := _problem(found):
            faults.append(f"{' '.join(words)}: {problem}")
        elif _answer(words, found) == _answer(words, right):
            same += 1
        elif _says_so(found):
            told += 1
        else:
            silent.append(" ".join(words))
    faults += _after(sample, log, silent)
    return Verdict(faults, silent, told, same)


def _after(sample: Sample, log: Path, silent: list[str]) -> list[str]:
    """Verify, mend, and verify again; return what is wrong with that."""
    verified = ask(["verify"], log)
    if problem := _problem(verified):
        return [f"verify: {problem}"]
    faults: list[str] = []
    if "-wal is damaged" in verified.out:  # whoever writes drops it
        return faults
    if silent and verified.code == 0:
        faults.append(f"verify: finds nothing, but {', '.join(silent)} are wrong")
    for words in (["log", "migrate"], ["log", "reindex"]):
        done = ask(words, log)
        if problem := _problem(done):
            return [*faults, f"{' '.join(words)}: {problem}"]
        if done.code:
            return faults
    again = ask(["verify"], log)
    if problem := _problem(again):
        faults.append(f"verify after reindex: {problem}")
    elif verified.code == 0 and again.code != 0:
        faults.append(f"reindex breaks what was sound: {again.out}")
    elif again.code == 0:
        faults += _compare(sample, log)
    return faults


def _compare(sample: Sample, log: Path) -> list[str]:
    """Return which commands are wrong on a log that is told to be well."""
    faults = []
    for words, right in sample.said.items():
        found = ask(words, log)
        if _problem(found) or (
            _answer(words, found) != _answer(words, right) and not _says_so(found)
        ):
            faults.append(f"{' '.join(words)}: wrong after reindex, and verify finds nothing")
    return faults


def _problem(said: Said) -> str:
    """Return what should never be, whatever is asked."""
    if said.fault:
        return said.fault
    if _RAW.search(said.err) and not said.err.startswith("Usage"):
        return f"says {said.err}"
    if said.err and not _OURS.match(said.err):
        return f"says {said.err}"
    return ""


def _says_so(said: Said) -> bool:
    """Tell whether a command says that its answer is none, or not all."""
    return bool(_ALWAYS.sub("", said.err)) or "problem:" in said.out


def _answer(words: tuple[str, ...], said: Said) -> tuple[int, str]:
    if words[:2] == ("log", "info"):  # how large what is, differs after reindex
        return said.code, ""
    out = said.out
    if words[0] == "search":  # among equally good ones the order is that of coming in
        out = "\n".join(sorted(out.split("\n")))
    return said.code, out
