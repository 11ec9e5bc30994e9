"""Weight concentration: ten flipped labels among 300 rows, and whom AdaBoost looks at."""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np

from boostlab import AdaBoostClassifier
from boostlab.datasets import flip_labels, twonorm
from boostlab.plots import weight_concentration


def draw(quick: bool = False) -> plt.Figure:
    X, clean = twonorm(300, random_state=0)
    y = flip_labels(clean, 10 / 300, random_state=0)
    model = AdaBoostClassifier(n_estimators=20 if quick else 60).fit(X, y)
    names = [f"row {i}, flipped" if flipped else f"row {i}" for i, flipped in enumerate(y != clean)]
    return np.ravel(weight_concentration(model, X, y, names))[0].figure
