"""What fitted models say, for comparison bit for bit."""

from __future__ import annotations

import numpy as np

from boostlab.model_io.model import pack


def facts(model):
    """What its model file would hold, the seconds of every round aside."""
    header, arrays = pack(model)
    for i, name in enumerate(header["history"]):
        if name == "seconds":
            arrays.pop(f"history_{i}")
    header["params"].pop("n_jobs")
    return header, {name: (a.dtype.str, a.shape, a.tobytes()) for name, a in arrays.items()}


def answers(model, X):
    """Everything a model can be asked about a table."""
    labels = model.classes_[np.arange(X.shape[0]) % len(model.classes_)]
    return [
        np.asarray(a).tobytes()
        for a in (
            model.predict(X),
            model.decision_function(X),
            model.predict_proba(X),
            model.margins(X, labels),
            list(model.staged_predict(X)),
            list(model.staged_decision_function(X)),
            list(model.staged_predict_proba(X)),
        )
    ]


def assert_same(one, two, *tables):
    """Two models are the same, and give the same answers on all these forms of one table."""
    first, second = facts(one), facts(two)
    assert first[0] == second[0]
    assert first[1].keys() == second[1].keys()
    assert [k for k, v in first[1].items() if v != second[1][k]] == []
    asked = [answers(model, X) for model in (one, two) for X in tables]
    assert all(a == asked[0] for a in asked)
