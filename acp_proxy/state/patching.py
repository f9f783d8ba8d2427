"""How a patch changes what is there: fields and ``_meta`` (docs/protocol.md: Patches)."""

from typing import Any, TypeVar

from acp_proxy.events.event import MetaRule, ObjectPatch, Unset

T = TypeVar("T")
NO_META: dict[str, Any] = {}
"""The ``_meta`` of what has none. Most things have none, and a dict takes 64 bytes."""


def no_meta() -> dict[str, Any]:
    """Return NO_META."""
    return NO_META


def patched(old: T, patch: T | Unset) -> T:
    """Return what a field is after a patch; None is "no value"."""
    return old if isinstance(patch, Unset) else patch


def become(thing: T, other: T) -> None:
    """Give a thing all that another of its class is: who holds it, holds it anew."""
    for name in type(thing).__slots__:  # type: ignore[attr-defined]  # every thing has them
        setattr(thing, name, getattr(other, name))


def patched_meta(mine: dict[str, Any], patch: ObjectPatch, rule: MetaRule) -> dict[str, Any]:
    """Return what an entity's ``_meta`` is after a patch; never deeper than its top level.

    ``mine`` belongs to the state and is changed, so that many small patches stay cheap;
    but not NO_META, which many share.
    """
    if isinstance(patch, Unset):
        return mine
    mine = {} if mine is NO_META else mine
    if patch is None:
        return {}
    if rule is MetaRule.REPLACE:
        return dict(patch)
    if rule is MetaRule.MERGE:
        mine.update(patch)
        return mine
    for key, value in patch.items():
        if value is None:
            mine.pop(key, None)
        else:
            mine[key] = value
    return mine
