"""
Open a vote
===========

A vote of stumps is an additive model: one step function a column.  These are the four
columns that matter most.
"""

# %%
from sklearn.datasets import load_breast_cancer

from boostlab import AdaBoostClassifier, explain
from boostlab.plots import shape_functions

X, y = load_breast_cancer(return_X_y=True, as_frame=True)
model = AdaBoostClassifier(n_estimators=80).fit(X, y)
axes = shape_functions(model, features=[shape.name for shape in explain.shapes(model, X)[:4]])

# %%
# The voters themselves, as rules:
print(AdaBoostClassifier(n_estimators=3).fit(X, y).rules())
