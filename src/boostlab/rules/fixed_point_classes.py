"""VadaBoost for three or more classes that estimates its penalty anew every round."""

from __future__ import annotations

from dataclasses import dataclass

from boostlab.rules.fixed_point import FixedPoint
from boostlab.rules.vadaboost_classes import VadaBoostOfClasses


@dataclass(frozen=True)
class FixedPointVadaBoostOfClasses(FixedPoint, VadaBoostOfClasses):
    """`FixedPoint`'s penalty for several classes: it looks at the losses only, whatever they are losses of."""

    patience: int = 10
    delta: float = 0.05
