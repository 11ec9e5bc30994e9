"""
A larger minimum margin is not enough (figure 2.8)
==================================================

Zhou, *Ensemble Methods* (2012), figure 2.8, after Reyzin and Schapire (2006).  arc-gv finds a larger minimum margin
than AdaBoost, and need not predict better: its trees may be deeper, or its other margins smaller.
"""

# %%
import matplotlib.pyplot as plt
import numpy as np

from boostlab import AdaBoostClassifier, ArcGVClassifier
from boostlab.datasets import twonorm
from boostlab.plots import margin_distribution


def draw(rounds=300, rows=100):
    """Draw the margins of both votes of stumps."""
    X, y = twonorm(rows, random_state=1)
    X_test, y_test = twonorm(3000, random_state=99)
    models = {}
    for name, kind in {"AdaBoost": AdaBoostClassifier, "arc-gv": ArcGVClassifier}.items():
        model = kind(n_estimators=rounds).fit(X, y)
        error = np.mean(model.predict(X_test) != y_test)
        models[f"{name}: minimum {model.margins(X, y).min():.3f}, test error {error:.1%}"] = model
    _, axes = plt.subplots(figsize=(6.5, 3.8), layout="constrained")
    margin_distribution(models, X, y, ax=axes)


draw()

# %%
# Questions
# ---------
# 1. Which curve lies to the right at the left end, and which in the middle?
# 2. What does a bound by the whole distribution of margins say that one by the minimum does not?
#
# In a notebook the arguments become knobs:
try:
    from ipywidgets import interact
except ImportError:
    print("pip install ipywidgets, and run this in a notebook")
else:
    interact(draw, rounds=(20, 1000, 20), rows=(40, 400, 20))
