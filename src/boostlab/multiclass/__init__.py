"""The classifiers of several classes that scikit-learn lacks, for any binary estimator, boosters among them."""

from __future__ import annotations

from boostlab.multiclass.ecoc import ECOCClassifier
from boostlab.multiclass.pairwise import PairwiseClassifier

__all__ = ["ECOCClassifier", "PairwiseClassifier"]
