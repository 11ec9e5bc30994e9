"""
A model that keeps to what is known
===================================

Risk must not fall as debt rises.  ``monotone`` holds exactly, for stumps and for trees; the free model follows
the noise.
"""

# %%
import matplotlib.pyplot as plt
import numpy as np

from boostlab import LogitBoostClassifier
from boostlab.plots import look, tidy

rng = np.random.default_rng(0)
debt = rng.uniform(0, 10, 400)
y = (debt + rng.logistic(0, 2.5, 400) > 5).astype(int)
grid = np.linspace(0, 10, 300)[:, None]

figure, axes = plt.subplots(figsize=(6, 3.6), layout="constrained")
for number, (name, monotone) in enumerate({"free": None, "monotone": {0: +1}}.items()):
    model = LogitBoostClassifier(n_estimators=60, monotone=monotone).fit(debt[:, None], y)
    probability = model.predict_proba(grid)[:, 1]
    axes.plot(grid[:, 0], probability, label=name, **look(number, points=6))
    print(f"{name}: falls {int((np.diff(probability) < 0).sum())} times")
axes.set(xlabel="debt", ylabel="probability of default")
axes.legend(frameon=False)
tidy(axes)
