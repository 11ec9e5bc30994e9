"""
A larger minimum margin is not enough (figure 2.8)
==================================================

Zhou, *Ensemble Methods* (2012), figure 2.8, after Reyzin and Schapire (2006).  arc-gv finds a larger minimum margin
than AdaBoost and need not predict better: its trees are deeper.
"""

# %%
import matplotlib.pyplot as plt
import numpy as np

from boostlab import AdaBoostClassifier, ArcGVClassifier
from boostlab.datasets import twonorm
from boostlab.plots import margin_distribution


def draw(rounds=100, rows=200, leaves=16):
    """Draw the margins of both votes of trees."""
    X, y = twonorm(rows, random_state=1)
    X_test, y_test = twonorm(3000, random_state=99)
    models = {}
    for name, kind in {"AdaBoost": AdaBoostClassifier, "arc-gv": ArcGVClassifier}.items():
        model = kind(max_leaf_nodes=leaves, n_estimators=rounds).fit(X, y)
        error = np.mean(model.predict(X_test) != y_test)
        models[f"{name}: minimum {model.margins(X, y).min():.3f}, test error {error:.1%}"] = model
    _, axes = plt.subplots(figsize=(6.5, 3.8), layout="constrained")
    margin_distribution(models, X, y, ax=axes)


draw()

# %%
# Questions
# ---------
# 1. Which curve lies to the right, and which vote predicts new rows better?
# 2. What does a bound by the minimum margin leave out that differs between the two?
# 3. With ``leaves=2`` arc-gv's minimum is the smaller one.  Its theorem is about the limit: after how many rounds does
#    it catch up?
#
# In a notebook a slider sets each argument (``pip install "boostlab[teach]"``):
if "get_ipython" in globals():
    from ipywidgets import interact

    interact(draw, rounds=(20, 500, 20), rows=(100, 400, 20), leaves=(2, 16))
