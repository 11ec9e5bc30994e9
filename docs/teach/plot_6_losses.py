"""
Losses, and whom they look at
=============================

Every booster has a loss of the margin; the weight of a row is its slope.  Where the slope grows without bound, a wrong
label draws all attention.
"""

# %%
import matplotlib.pyplot as plt

from boostlab.plots import loss_functions


def draw(rho=4.0):
    """Draw the losses; AR-Boost's has the parameter rho."""
    _, axes = plt.subplots(figsize=(6, 4), layout="constrained")
    loss_functions(rho=rho, ax=axes)


draw()

# %%
# Ten labels of 300 are flipped.  AdaBoost finds them: they carry most of the weight.
import numpy as np

from boostlab import AdaBoostClassifier
from boostlab.datasets import flip_labels, twonorm
from boostlab.plots import weight_concentration

X, clean = twonorm(300, random_state=0)
y = flip_labels(clean, 10 / 300, random_state=0)
model = AdaBoostClassifier(n_estimators=40).fit(X, y)
names = [f"row {i}, flipped" if flipped else f"row {i}" for i, flipped in enumerate(y != clean)]
axes = np.ravel(weight_concentration(model, X, y, names))

# %%
# In a notebook a slider sets each argument (``pip install "boostlab[teach]"``):
if "get_ipython" in globals():
    from ipywidgets import interact

    interact(draw, rho=(1.0, 8.0))
