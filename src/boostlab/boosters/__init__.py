"""One file per booster, with its rule and its estimator; each is loaded when it is first asked for.

Asking for one of the lists, REGISTRY (the classifiers) or REGRESSORS, loads all boosters.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from boostlab.boosters import registry

if TYPE_CHECKING:
    from boostlab.boosters.registry import REGISTRY, REGRESSORS

__all__ = ["REGISTRY", "REGRESSORS"]


def __getattr__(name: str) -> Any:
    """Load a booster, or all of them where one of the lists is asked for."""
    if name in __all__:
        registry.complete()
        value = getattr(registry, name)
    else:
        value = registry.find(name)
        if value is None or not value.__module__.startswith(f"{__name__}."):
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted([*__all__, *registry.public_names("boosters")])
