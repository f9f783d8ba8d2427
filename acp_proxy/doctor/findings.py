"""What a check finds. No checks here."""

from typing import Final, NamedTuple

OK: Final = "ok"
NOTE: Final = "note"
PROBLEM: Final = "problem"


class Finding(NamedTuple):
    """One thing that was looked at.

    Attributes:
        check: Which check found it.
        status: ``ok``; ``note``: worth knowing; ``problem``: something does not work, or will not.
        what: It, in words; may hold what somebody else wrote.
        remedy: What to do about it; empty when there is nothing to do.

    """

    check: str
    status: str
    what: str
    remedy: str = ""
