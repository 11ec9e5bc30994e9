"""
Wrong labels
============

A fifth of the training labels is flipped.  AdaBoost gives rows that it cannot get right ever more weight, so it learns
the errors; MadaBoost's weights have a ceiling, and L2Boost takes small steps.
"""

# %%
import matplotlib.pyplot as plt
import numpy as np

from boostlab import AdaBoostClassifier, L2BoostClassifier, MadaBoostClassifier
from boostlab.datasets import flip_labels, twonorm
from boostlab.plots import look, tidy

X, clean = twonorm(400, random_state=0)
y = flip_labels(clean, 0.2, random_state=0)
X_test, y_test = twonorm(3000, random_state=1)

figure, axes = plt.subplots(figsize=(6, 3.6), layout="constrained")
models = {
    "AdaBoost": AdaBoostClassifier(n_estimators=200),
    "MadaBoost": MadaBoostClassifier(n_estimators=200),
    "L2Boost": L2BoostClassifier(n_estimators=200),
}
for number, (name, model) in enumerate(models.items()):
    model.fit(X, y)
    errors = [100 * np.mean(said != y_test) for said in model.staged_predict(X_test)]
    axes.plot(np.arange(1, len(errors) + 1), errors, label=name, **look(number, points=6))
axes.set(xscale="log", xlabel="rounds", ylabel="test error, %")
axes.legend(frameon=False)
tidy(axes)

# %%
# Which rows look wrong?  Their weights, averaged over the rounds, tell: of the forty heaviest rows most are flipped.
from boostlab.theory import row_weights

weights = row_weights(models["AdaBoost"], X, y).influence
heaviest = np.argsort(weights)[-40:]
print(f"{np.mean(y[heaviest] != clean[heaviest]):.0%} of the 40 heaviest rows have a flipped label; overall 20 %")
