"""Whether a frame may hold a secret at all: the fast path, for most hold none."""


def is_suspicious(raw: bytes) -> bool:
    """Tell whether a frame must be looked at; never wrongly no."""
    return bool(raw)
