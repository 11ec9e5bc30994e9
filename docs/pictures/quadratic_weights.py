"""What QuadBoost's regularisers do to the weights of the voters, and to the test error when labels are noisy."""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
from palette import look, tidy

from boostlab import QuadBoostClassifier, VoterPool
from boostlab.datasets import flip_labels, twonorm

FORMS = {
    "no regulariser": dict(),
    "L1, λ = 0.1": dict(regularizer="l1", strength=0.1),
    "L2, λ = 20": dict(regularizer="l2", strength=20.0),
    "L∞, λ = 0.02": dict(regularizer="linf", strength=0.02),
}


def draw(quick: bool = False) -> plt.Figure:
    rounds, repeats = (30, 1) if quick else (1000, 10)
    X_test, y_test = twonorm(500 if quick else 10_000, random_state=99)
    figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.6), layout="constrained")
    for number, (name, form) in enumerate(FORMS.items()):
        errors = np.empty((repeats, rounds))
        for r in range(repeats):
            X, y = twonorm(400, random_state=r)
            model = QuadBoostClassifier(VoterPool(), n_estimators=rounds, **form)
            model.fit(X, flip_labels(y, 0.2, random_state=r))
            curve = [np.mean(p != y_test) for p in model.staged_predict(X_test)]
            errors[r] = np.append(curve, np.full(rounds - len(curve), curve[-1]))
            if r == 0:
                weights: dict[int, float] = {}
                for voter, alpha in zip(model.estimators_, model.estimator_weights_, strict=True):
                    weights[voter.index] = weights.get(voter.index, 0.0) + voter.sign * alpha
                sizes = np.sort(np.abs([w for w in weights.values() if abs(w) > 1e-9]))[::-1]
                left.plot(np.arange(1, len(sizes) + 1), sizes, label=name, **look(number, points=8))
        right.plot(np.arange(1, rounds + 1), 100 * errors.mean(axis=0), label=name, **look(number, points=6))
    left.set(xlabel="voters, the largest weight first", ylabel="weight of a voter, all its rounds together")
    left.set(xlim=(0, None), ylim=(0, None), title=f"after {rounds} rounds")
    right.set(xscale="log", xlabel="rounds", ylabel="test error, %", xlim=(1, rounds), ylim=(0, None))
    right.set_title("20 % of the training labels flipped")
    left.legend(frameon=False)
    tidy(left, right)
    return figure
