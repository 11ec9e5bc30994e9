"""Shared by BrownBoost and RobustBoost: a target for the error, in binary problems of several classes, too."""

from __future__ import annotations

from typing import Any, ClassVar

from boostlab.boosters.selection import SelectionData

_LEAST = 2e-6  # which every rule with a target takes
NEARLY_OVER = 1e-3  # of all the time: what is left goes in one step


class TargetError:
    """Boosters that settle for a share of training errors.

    One class of 26 against the rest is right on 96 % of the rows by saying no to all of them: a target of 10 % would be
    met before the first round.  So in a binary problem of a reduction the target is in proportion to the smaller side,
    and stays itself where both sides weigh the same.
    """

    target_error: float
    _settles: ClassVar[tuple[str, ...]] = ("target_error",)
    _smaller_side: float | None  # a booster's

    def _settle(self, bench: SelectionData) -> dict[str, Any]:
        """Return the target of a problem of a reduction."""
        if self._smaller_side is None:
            return {}
        return {"target_error": max(2.0 * self._smaller_side * self.target_error, _LEAST)}

    @property
    def _target(self) -> float:
        """The target of this problem."""
        settled: dict[str, Any] = getattr(self, "_settled", {})
        return float(settled.get("target_error", self.target_error))
