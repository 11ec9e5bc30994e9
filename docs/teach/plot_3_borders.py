"""
One tree and a vote of ten (figure 2.5)
=======================================

Zhou, *Ensemble Methods* (2012), figure 2.5: three normal clouds, the border of one tree, and that of ten boosted trees.
"""

# %%
import matplotlib.pyplot as plt
import numpy as np

from boostlab import AdaBoostM2Classifier
from boostlab.datasets import three_gaussians
from boostlab.plots import decision_boundary


def draw(leaves=8, rounds=10, rows=300):
    """Draw the borders of one tree, and of a vote."""
    X, y = three_gaussians(rows, random_state=0)
    X_test, y_test = three_gaussians(3000, random_state=1)
    _, axes = plt.subplots(1, 2, figsize=(9, 3.8), layout="constrained", sharey=True)
    for ax, number in zip(axes, (1, rounds), strict=True):
        model = AdaBoostM2Classifier(max_leaf_nodes=leaves, n_estimators=number).fit(X, y)
        decision_boundary(model, X, y, resolution=100, ax=ax)
        ax.set_title(f"{number} tree{'s'[: number - 1]}: {np.mean(model.predict(X_test) != y_test):.1%} test error")


draw()

# %%
# Questions
# ---------
# 1. The best possible error on these clouds is about 7 %.  How close do you come, and with what?
# 2. With many rounds the border grows islands around single points.  What do they cost?
#
# In a notebook a slider sets each argument (``pip install "boostlab[teach]"``):
if "get_ipython" in globals():
    from ipywidgets import interact

    interact(draw, leaves=(2, 16), rounds=(1, 50), rows=(100, 1000, 100))
