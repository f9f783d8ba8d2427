"""What was found: one entry for each place where something went wrong, with the shortest input."""

from __future__ import annotations

import hashlib
import traceback
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

    from tests.fuzz.target import Target


class Finds:
    """Keeps failing inputs in a folder, each beside what went wrong.

    Args:
        folder: Where; made when something is found.

    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._shortest: dict[str, int] = {}

    def fails(self, target: Target, data: bytes) -> str | None:
        """Check an input; keep it when it fails; return what tells this failure from others."""
        try:
            target.check(data)
        except Exception as error:  # noqa: BLE001 - whatever it is, it is a find
            where = traceback.extract_tb(error.__traceback__)[-1]
            key = f"{type(error).__name__} {where.filename} {where.lineno}"
            if len(data) < self._shortest.get(key, len(data) + 1):
                self._shortest[key] = len(data)
                self._keep(key, data, error)
            return key
        return None

    def _keep(self, key: str, data: bytes, error: Exception) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)
        path = self.folder / hashlib.sha256(key.encode()).hexdigest()[:8]
        path.write_bytes(data)
        path.with_suffix(".txt").write_text("".join(traceback.format_exception(error)))
