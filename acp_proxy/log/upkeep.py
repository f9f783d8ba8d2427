"""Changing a log beside those who record into it: many short transactions with pauses between.

A recorder waits for a lock; what takes long must let it in again and again. Each
transaction leaves the log as somebody may find it who comes after we were killed.
"""

import contextlib
import time
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Final

from acp_proxy.log import schema, space

if TYPE_CHECKING:
    import sqlite3

SLICE_SECONDS: Final = 0.1
"""How long a transaction should take."""
_PAUSE_SECONDS: Final = 0.025
"""Between two; who waits for the lock asks each 0.1 s at least, and has 5 s of patience or more."""
_BUSY_MS: Final = 10_000
_FIRST: Final = 64
_GROWTH: Final = 4
_MOST: Final = 100_000


class Upkeep:
    """A log opened to be kept in order, by whoever asks for it.

    Args:
        path: The log.
        busy_ms: How long to wait for others each time.

    Raises:
        LogUnavailableError: From every method: locked, or no room. What was done before stays done.
        LogError: From every method: it will not work later either.

    """

    def __init__(self, path: str, *, busy_ms: int = _BUSY_MS) -> None:
        self.path = path
        self.db: sqlite3.Connection = schema.open_for_writing(path, busy_ms=busy_ms)
        self.db.execute("PRAGMA foreign_keys = OFF")  # a connection's row goes before the rest

    def __enter__(self) -> "Upkeep":
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    def close(self) -> None:
        """Let go of the log."""
        self.db.close()

    @contextlib.contextmanager
    def transaction(self) -> Iterator[None]:
        """In this context, what is changed is changed together or not at all."""
        with schema.transaction(self.path, self.db):
            yield

    def in_slices(self, step: Callable[[int], int]) -> int:
        """Do something little by little until nothing is left of it.

        Args:
            step: Called in a transaction of its own, again and again, with how much to do; returns how
                much it did. Nothing is left when that is nothing.

        Returns:
            How much was done.

        """
        total = 0
        amount = _FIRST
        while True:
            with self.transaction():
                began = time.monotonic()
                done = step(amount)
            took = time.monotonic() - began
            if not done:
                return total
            total += done
            fitting = amount * SLICE_SECONDS / max(took, 1e-6)
            amount = max(1, min(int(fitting), amount * _GROWTH, _MOST))
            time.sleep(_PAUSE_SECONDS)

    def free_bytes(self) -> int:
        """Return how much in the file is free, to be used again or given back by ``log vacuum``."""
        with schema.explaining(self.path):
            return space.pages(self.db).free

    def used_bytes(self) -> int:
        """Return how much of the file is in use."""
        with schema.explaining(self.path):
            return space.pages(self.db).used


def has_ended(db: "sqlite3.Connection", connection_id: int) -> bool:
    """Tell whether a connection is there and nobody records it any more."""
    sql = "SELECT 1 FROM connections WHERE id = ? AND status <> 'running'"
    return db.execute(sql, (connection_id,)).fetchone() is not None
