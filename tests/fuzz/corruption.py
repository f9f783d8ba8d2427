"""``python -m tests.fuzz.corruption``: damages logs at random and asks every command about them."""

from __future__ import annotations

import argparse
import contextlib
import random
import sqlite3
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

from acp_proxy.state import checkpoints
from tests.fuzz.journal_damage import damage_one, sound_journals
from tests.fuzz.judging import judge
from tests.fuzz.samples import USUAL_SPACING, copy, samples, trial_of

if TYPE_CHECKING:
    from tests.fuzz.samples import Sample

_PAGE = 4096
_WAYS = ("bit", "bit", "bits", "byte", "zeros", "cut", "cut at a page", "swap", "value", "value")
_SHADOWS = ("_sqlite", "sqlite", "search_")


def damage(log: Path, sample: Sample, way: str, chance: random.Random) -> str:
    """Damage a copy of a log in a way; return what was done."""
    wal = Path(f"{log}-wal")
    path = wal if wal.exists() and chance.random() < 0.7 else log
    if way == "value":
        return _change_value(log, chance)
    data = bytearray(path.read_bytes() or b"\0")
    at = chance.randrange(len(data))
    page = at // _PAGE
    if way in ("bit", "bits"):
        for _ in range(1 if way == "bit" else 5):
            data[at] ^= 1 << chance.randrange(8)
            at = chance.randrange(len(data))
    elif way == "byte":
        data[at] = chance.randrange(256)
    elif way == "zeros":
        data[page * _PAGE : (page + 1) * _PAGE] = bytes(_PAGE)
    elif way.startswith("cut") and path == wal:
        del data[0:1]  # of one that is cut nothing tells: it might never have been longer
    elif way == "cut":
        del data[at + 1 :]
    elif way == "cut at a page":
        del data[max(page, 1) * _PAGE :]
    else:
        other = chance.randrange(len(data) // _PAGE or 1)
        data[page * _PAGE : (page + 1) * _PAGE] = data[other * _PAGE : (other + 1) * _PAGE]
    path.write_bytes(data)
    owner = "" if path == wal else sample.owners.get(page + 1, "")
    return f"{way} at {at} of {path.name} ({owner})"


def _change_value(log: Path, chance: random.Random) -> str:
    """Change a bit of one value in one row, as no SQLite would notice."""
    with contextlib.closing(sqlite3.connect(log)) as db:
        names = [
            name
            for name, sql in db.execute("SELECT name, sql FROM sqlite_schema WHERE type = 'table'")
            if not name.startswith(_SHADOWS) and "VIRTUAL" not in sql.partition("(")[0]
        ]
        for _ in range(20):
            table = chance.choice(names)
            columns = [row[1] for row in db.execute(f"PRAGMA table_info({table})")]
            column = chance.choice(columns)
            [(count,)] = db.execute(f"SELECT count(*) FROM {table}")
            if not count:
                continue
            place = chance.randrange(count)
            [(value,)] = db.execute(f"SELECT {column} FROM {table} LIMIT 1 OFFSET {place}")
            other = _other(value, chance)
            keys = _key(db, table)
            with contextlib.suppress(sqlite3.IntegrityError):
                key = db.execute(
                    f"SELECT {', '.join(keys)} FROM {table} LIMIT 1 OFFSET {place}"
                ).fetchone()
                where = " AND ".join(f"{name} = ?" for name in keys)
                db.execute(f"UPDATE {table} SET {column} = ? WHERE {where}", (other, *key))
                db.commit()
                return f"{table}.{column} of {key}: {value!r:.60} to {other!r:.60}"
    return "nothing"


def _key(db: sqlite3.Connection, table: str) -> list[str]:
    found = [row[1] for row in db.execute(f"PRAGMA table_info({table})") if row[5]]
    return found or ["rowid"]


def _other(value: object, chance: random.Random) -> object:
    """Return a value of the same type with one bit changed."""
    if isinstance(value, int):
        return value ^ (1 << chance.randrange(40))
    if isinstance(value, bytes | str) and value:
        raw = bytearray(value.encode() if isinstance(value, str) else value)
        raw[chance.randrange(len(raw))] ^= 1 << chance.randrange(8)
        return raw.decode(errors="replace") if isinstance(value, str) else bytes(raw)
    return chance.choice([None, 0, 1, "x"]) if value is None else value


def run(folder: Path, seconds: float, seed: int, first: int = 0, most: int = 10**9) -> list[str]:
    """Damage logs until the time is over; print what is found, and return it."""
    logs = samples(folder)
    log = trial_of(folder)
    until = time.monotonic() + seconds
    faults: list[str] = []
    counts: Counter[str] = Counter()
    silent: Counter[str] = Counter()
    for number in range(first, first + most):
        if time.monotonic() > until:
            break
        chance = random.Random(seed * 1_000_000 + number)
        sample = chance.choice(logs)
        way = chance.choice(_WAYS)
        copy(sample, log)
        done = damage(log, sample, way, chance)
        verdict = judge(sample, log, chance)
        counts.update(runs=1, same=verdict.same, told=verdict.told, silent=len(verdict.silent))
        if verdict.silent:
            silent[done if way == "value" else done.partition("(")[2]] += 1
        for fault in verdict.faults:
            text = f"{seed}/{number} {sample.path.name}, {done}: {fault}"
            faults.append(text)
        if verdict.faults:
            more = len(verdict.faults) - 1
            print(f"{faults[-1]}{f' (and {more} more)' if more else ''}", flush=True)
    print(dict(counts))
    for what, times in silent.most_common(40):
        print(f"  silent, but verify tells: {times} x {what}")
    return faults


def run_journals(folder: Path, seconds: float, seed: int, most: int = 10**9) -> list[str]:
    """Damage journals until the time is over; print what is found, and return it."""
    checkpoints.SPACING = USUAL_SPACING  # type: ignore[misc] # recorders are processes of their own
    sound = sound_journals(folder / "sound")
    until = time.monotonic() + seconds
    faults: list[str] = []
    number = 0
    while number < most and time.monotonic() < until:
        chance = random.Random(seed * 1_000_000 + number)
        done, found = damage_one(folder / "damaged", chance.choice(sound), chance)
        faults += [f"{seed}/{number} journal, {done}: {fault}" for fault in found]
        for fault in faults[len(faults) - len(found) :]:
            print(fault, flush=True)
        number += 1
    print({"journals": number})
    return faults


def main() -> int:
    """Do what the arguments say; 1 when something was found."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz.corruption", description=__doc__)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--seed", type=int, default=random.randrange(1000))
    parser.add_argument("--number", type=int, help="only this one of the seed's")
    arguments = parser.parse_args()
    print(f"seed {arguments.seed}", flush=True)
    with tempfile.TemporaryDirectory(prefix="acp-proxy-corruption-") as name:
        first, most = (0, 10**9) if arguments.number is None else (arguments.number, 1)
        faults = run(Path(name) / "logs", arguments.seconds / 2, arguments.seed, first, most)
        faults += run_journals(Path(name) / "journals", arguments.seconds / 2, arguments.seed, most)
        return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
