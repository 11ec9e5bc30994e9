"""Shape functions: the stump ensemble on the breast cancer table is an additive model."""

from __future__ import annotations

import matplotlib.pyplot as plt
from sklearn.datasets import load_breast_cancer

from boostlab import LogitBoostClassifier
from boostlab.plots import shape_functions


def draw(quick: bool = False) -> plt.Figure:
    data = load_breast_cancer(as_frame=True)
    X, y = data.data, data.target
    model = LogitBoostClassifier(learning_rate=0.1, n_estimators=20 if quick else 150).fit(X, y)
    return shape_functions(model, X)[0].figure
