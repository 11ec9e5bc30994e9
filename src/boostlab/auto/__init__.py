"""A good model without a question asked: `AutoBoostClassifier` and `AutoBoostRegressor`."""

from boostlab.auto.estimators import AutoBoostClassifier, AutoBoostRegressor

__all__ = ["AutoBoostClassifier", "AutoBoostRegressor"]
