"""Copies of logs that a test takes for its own: without that they are read through a private copy."""

from pathlib import Path

from acp_proxy.journal import spool
from acp_proxy.log import identity


def trusted(log: Path) -> Path:
    """Register a log that a test copied or unpacked, and the journals beside it."""
    assert identity.trust(str(log))
    for journal in spool.waiting(str(log)):
        assert spool.adopt(journal)
    return log
