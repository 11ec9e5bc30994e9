"""
The bound on the training error
===============================

After T rounds the training error is at most the product of 2 √(ε(1-ε)): each voter that is a little better than a coin
takes a factor off it.  The bound falls exponentially, and the error below it.
"""

# %%
import matplotlib.pyplot as plt
import numpy as np

from boostlab import AdaBoostClassifier
from boostlab.datasets import twonorm
from boostlab.plots import look, tidy


def draw(rounds=60, rows=200):
    """Draw the training error, its bound, and the error of every voter."""
    X, y = twonorm(rows, random_state=0)
    model = AdaBoostClassifier(n_estimators=rounds).fit(X, y)
    epsilon = model.history_["error"]
    bound = np.cumprod(2 * np.sqrt(epsilon * (1 - epsilon)))
    error = [np.mean(said != y) for said in model.staged_predict(X)]
    assert (np.array(error) <= bound).all()
    at = np.arange(1, len(epsilon) + 1)
    _, (left, right) = plt.subplots(1, 2, figsize=(9, 3.4), layout="constrained")
    left.plot(at, bound, label="bound", **look(0, points=6))
    left.plot(at, error, label="training error", **look(1, points=6))
    left.set(xlabel="rounds", ylabel="share of the rows")
    left.legend(frameon=False)
    right.plot(at, epsilon, **look(2, points=6))
    right.axhline(0.5, color="grey", lw=1, ls="--")
    right.set(xlabel="round", ylabel="weighted error ε of the voter", ylim=(0, 0.55))
    tidy(left, right)


draw()

# %%
# Questions
# ---------
# 1. Why do the voters get worse as training goes on?
# 2. With which ε does a round gain nothing?  With which does training end?
#
# In a notebook a slider sets each argument (``pip install "boostlab[teach]"``):
if "get_ipython" in globals():
    from ipywidgets import interact

    interact(draw, rounds=(5, 200, 5), rows=(50, 1000, 50))
