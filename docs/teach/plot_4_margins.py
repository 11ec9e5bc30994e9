"""
Margins grow after the training error is zero (figure 2.7)
==========================================================

Zhou, *Ensemble Methods* (2012), figure 2.7, after Schapire, Freund, Bartlett and Lee (1998).  The training error
reaches zero and the test error goes on falling: the vote becomes surer of the rows.  The book's data are letter; here
is a small table that comes with scikit-learn.
"""

# %%
import matplotlib.pyplot as plt
from sklearn.datasets import load_digits

from boostlab import AdaBoostClassifier
from boostlab.plots import learning_curves, margin_rounds


def draw(rounds=200, leaves=8):
    """Draw errors over the rounds, and margins after some of them; even digits against odd ones."""
    X, y = load_digits(return_X_y=True)
    y = y % 2
    X, y, X_test, y_test = X[::2], y[::2], X[1::2], y[1::2]
    model = AdaBoostClassifier(max_leaf_nodes=leaves, n_estimators=rounds).fit(X, y)
    _, (left, right) = plt.subplots(1, 2, figsize=(9, 3.6), layout="constrained")
    learning_curves(model, X, y, X_test, y_test, measures=["error"], ax=left)
    margin_rounds(model, X, y, [5, rounds // 4, rounds], ax=right)


draw()

# %%
# Questions
# ---------
# 1. After how many rounds is the training error zero?  What is the test error there, and at the end?
# 2. Large margins shrink while small ones grow.  Why must they?
#
# In a notebook a slider sets each argument (``pip install "boostlab[teach]"``):
if "get_ipython" in globals():
    from ipywidgets import interact

    interact(draw, rounds=(20, 400, 20), leaves=(2, 16))
