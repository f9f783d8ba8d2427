"""In which version states are written to bytes (``snapshot``); apart, for who only asks for that."""

from typing import Final

VERSION: Final = 1
"""Of what ``snapshot`` writes. Another one is not read: the state is folded anew."""
