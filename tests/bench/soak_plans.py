"""What happens to each connection of the soak, decided by the seed alone."""

import random
from typing import Any

Plan = dict[str, Any]
SIGNALS = ("TERM", "INT", "HUP", "USR1", "QUIT")


def plan(seed: int, number: int, *, small: bool = False) -> Plan:
    """Return the plan of one connection: what both sides do, who is killed when, and how the disk is.

    Args:
        seed: The soak's.
        number: The connection's.
        small: Little traffic: for logs with little room.

    """
    chance = random.Random(f"{seed}:{number}")
    largest = chance.choice([1000, 20_000, 100_000, 1_500_000]) if not small else 20_000
    if not small and chance.random() < 0.02:
        largest = 20_000_000
    agent = _side(chance, largest, small=small) | {
        "seed": f"{seed}:{number}:a",
        "read": chance.choices(["all", "slowly", "never", "some"], [8, 1, 1, 1])[0],
        "stderr": chance.choices([0, 20, 3000 if not small else 100], [5, 4, 1])[0],
        "code": chance.choice([0, 0, 3, 255]),
        "end": chance.choices(
            ["at eof", "at once", "crashes", "closes stdout", "lingers"], [10, 2, 2, 1, 1]
        )[0],
    }
    client = _side(chance, largest, small=small) | {
        "seed": f"{seed}:{number}:c",
        "read": chance.choices(["all", "slowly", "rests", "some"], [8, 1, 2, 1])[0],
        "reads stderr": chance.random() < 0.8,
    }
    if chance.random() < 0.1:
        agent["lines"] = 0  # a silent one
    for side in (agent, client):
        if side["pauses"] == 1:
            side["lines"] = min(side["lines"], 150)
            side["stderr"] = min(side.get("stderr", 0), 150)
        if side["read"] == "slowly":
            other = client if side is agent else agent
            other["lines"] = min(other["lines"], 60)
            other["largest"] = min(other["largest"], 20_000)
    return {
        "number": number,
        "agent": agent,
        "client": client,
        "kills": _kills(chance),
        "disk": "full" if small else "ample",
    }


def _side(chance: random.Random, largest: int, *, small: bool) -> Plan:
    most = 60 if small else 1500
    return {
        "lines": int(chance.random() ** 2 * most),
        "largest": largest,
        "most": largest + 1_500_000,
        "gather": chance.choice([1, 1, 2000, 100_000]),
        "pauses": chance.choice([0, 0, 0.1, 1.0]),
        "cut": chance.random() < 0.2,
    }


def _kills(chance: random.Random) -> list[Plan]:
    """Return who is killed, or gets a signal, and after how many seconds."""
    kind = chance.choices(
        ["nobody", "recorder", "proxy", "agent", "client", "group", "signal", "two"],
        [10, 3, 2, 1, 1, 1, 2, 1],
    )[0]

    def moment() -> float:
        return chance.random() ** 2 * 2

    if kind == "nobody":
        return []
    if kind == "two":
        return [{"who": "recorder", "after": moment()}, {"who": "proxy", "after": moment()}]
    if kind == "recorder":
        return [{"who": "recorder", "after": moment()} for _ in range(chance.choice([1, 1, 2, 6]))]
    if kind == "signal":
        return [{"who": "signal", "signal": chance.choice(SIGNALS), "after": moment()}]
    return [{"who": kind, "after": moment()}]
