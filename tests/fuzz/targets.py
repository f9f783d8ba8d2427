"""All targets by their names."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.fuzz import files, journals, secrets, states, wire

if TYPE_CHECKING:
    from tests.fuzz.target import Target

TARGETS: dict[str, Target] = {
    target.name: target
    for target in (
        wire.FRAMING,
        wire.CLASSIFICATION,
        wire.CORRELATION,
        journals.JOURNAL,
        states.FOLDING,
        states.SNAPSHOTS,
        files.IMPORT,
        secrets.REDACTION,
    )
}
