"""Models of compiled rounds beside those of the general loop, which must be the same to the bit."""

from __future__ import annotations

from dataclasses import fields

import numpy as np
import pandas as pd
from scipy import sparse


def general(cls):
    """Return the booster whose rule does not say what is usual: the engine asks it round by round."""

    class General(cls):
        def _rule(self):
            rule = super()._rule()
            slow = type(type(rule).__name__, (type(rule),), {"usual": lambda self, state: None})
            return slow(**{f.name: getattr(rule, f.name) for f in fields(rule)})

    General.__name__ = cls.__name__
    return General


def by_both(cls, params, fit):
    """Return the model of compiled rounds and that of the general loop."""
    return [fit(make_model(**params)) for make_model in (cls, general(cls))]


def assert_same(one, two):
    assert one.stop_reason_ == two.stop_reason_
    assert repr(one.estimators_) == repr(two.estimators_)
    assert np.array_equal(one.estimator_weights_, two.estimator_weights_)
    assert one.history_.keys() == two.history_.keys()
    for name in one.history_.keys() - {"seconds"}:
        assert np.array_equal(one.history_[name], two.history_[name], equal_nan=True), name


def table(rng, kind, n, d):
    X = rng.normal(size=(n, d)).round(rng.integers(0, 3))
    if kind == "missing":
        X[rng.random(X.shape) < 0.2] = np.nan
    if kind == "sparse":
        return sparse.csr_array(np.where(rng.random(X.shape) < 0.7, 0.0, X))
    if kind == "categories":
        return pd.DataFrame(X).assign(c=pd.Categorical(rng.choice(list("abcde"), n))).rename(columns=str)
    return X


def rounds_taken(monkeypatch, *kinds):
    """Return a list that gets how many rounds each call of these took."""
    taken = []
    for kind in kinds:

        def counted(self, state, most, rounds=kind.rounds):
            made = rounds(self, state, most)
            taken.append(0 if made is None else len(made.alphas))
            return made

        monkeypatch.setattr(kind, "rounds", counted)
    return taken
