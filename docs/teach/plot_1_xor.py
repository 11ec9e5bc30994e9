"""
Three rounds on XOR (figure 2.3)
================================

Zhou, *Ensemble Methods* (2012), figures 2.3 and 2.4.  No line separates the four points of XOR.  Three votes of eight
axis-parallel functions do.  Numbers are the scores of the areas.
"""

# %%
import matplotlib.pyplot as plt
import numpy as np

from boostlab import AdaBoostClassifier, VoterPool
from boostlab.datasets import xor
from boostlab.plots import decision_boundary


def basis(feature, cut, above):
    """One of the eight functions of figure 2.4: `above` where the feature exceeds the cut, else -above."""
    return lambda X: np.where(X[:, feature] > cut, above, -above).astype(float)


def draw(rounds=3, cut=0.5):
    """Draw the vote after each of the rounds."""
    X, y = xor()
    pool = VoterPool([basis(j, c, up) for j in (0, 1) for c in (-cut, cut) for up in (1, -1)], complements=False)
    _, axes = plt.subplots(1, rounds, figsize=(3.4 * rounds, 3.4), layout="constrained", squeeze=False)
    centres = np.array([(a, b) for a in (-0.8, 0.0, 0.8) for b in (-0.8, -0.15, 0.8)])
    for number, ax in enumerate(axes[0], start=1):
        model = AdaBoostClassifier(pool, n_estimators=number).fit(X, y)
        decision_boundary(model, X, y, voters=True, resolution=80, ax=ax)
        for place, score in zip(centres, model.decision_function(centres), strict=True):
            ax.annotate(f"{score:+.2f}", place, ha="center", va="center", fontsize=9)
        ax.set_title(f"round {number}: {1 - model.score(X, y):.0%} errors")


draw()

# %%
# Questions
# ---------
# 1. The voters of the first two rounds each get one point wrong.  Why has it half of the weight afterwards?
# 2. What happens with ``rounds=4``?  Look at ``model.stop_reason_``.
# 3. Compute the three coefficients by hand and compare them with ``model.estimator_weights_``.
#
# In a notebook a slider sets each argument (``pip install "boostlab[teach]"``):
if "get_ipython" in globals():
    from ipywidgets import interact

    interact(draw, rounds=(1, 4), cut=(0.1, 0.9))
