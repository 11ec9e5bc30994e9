"""FilterBoost from a stream: bounded memory, its own end, and the same law as from a table."""

from __future__ import annotations

import tracemalloc
from contextlib import suppress

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning
from sklearn.neighbors import KNeighborsClassifier
from sklearn.tree import DecisionTreeClassifier

from boostlab import FilterBoostClassifier, load
from boostlab.boosters.filterboost import FilterBoostOracle
from boostlab.data.table import Bins
from boostlab.engine.streaming import Filter, StreamEnded, StreamTraining
from boostlab.ensemble.vote import Ensemble
from boostlab.learners.resolve import as_learner
from boostlab.solvers.filtering import Calls


def sampler(seed=0, noise=0.0, d=3, wrap=lambda X: X):
    """Examples of a smooth problem, as many as one likes."""
    rng = np.random.default_rng(seed)

    def draw(n):
        X = rng.uniform(-1, 1, (n, d))
        return wrap(X), np.where((X.sum(axis=1) > 0) ^ (rng.random(n) < noise), "yes", "no")

    return draw


def chunks(draw, n, size):
    for _ in range(n):
        yield draw(size)


def booster(**kwargs):
    return FilterBoostClassifier(mode="oracle", **{"n_estimators": 12, "random_state": 0, **kwargs})


def test_a_function_and_an_iterator_of_chunks():
    X, y = sampler(1)(4000)
    by_function = booster().fit_stream(sampler())
    assert by_function.stop_reason_.startswith("max_rounds")
    assert by_function.score(X, y) > 0.85
    assert list(by_function.classes_) == ["no", "yes"]
    by_chunks = booster().fit_stream(chunks(sampler(), 10_000, 200))
    assert by_chunks.score(X, y) > 0.85
    again = booster().fit_stream(chunks(sampler(), 10_000, 200))
    assert again.decision_function(X).tobytes() == by_chunks.decision_function(X).tobytes()
    assert {"alpha", "edge", "tested", "drawn", "seconds"} == set(by_function.history_)
    *_, last = by_chunks.staged_predict(X)
    assert (last == by_chunks.predict(X)).all()


def test_memory_does_not_grow_with_the_stream():
    # 20 columns, and more than 100,000 examples drawn: 16 MB if they were kept.
    booster(n_estimators=2).fit_stream(sampler(d=20))  # compiles
    model, draw, drawn = booster(n_estimators=9), sampler(d=20), [0]

    def counted(n):
        drawn[0] += n
        return draw(n)

    tracemalloc.start()
    model.fit_stream(counted)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert drawn[0] > 100_000
    assert peak < 3e6
    assert model.history_["drawn"].sum() <= drawn[0]


def test_it_ends_by_its_own_test():
    easy = sampler(2, d=1)  # a stump is all it takes; each adds atanh(2/3) or less
    model = booster(target_error=0.2, n_estimators=500).fit_stream(easy)
    assert model.stop_reason_.startswith("tolerance: none of")
    assert 3 <= model.n_estimators_ < 20
    assert model.score(*easy(5000)) > 0.95


def test_it_ends_on_pure_noise_and_at_the_end_of_the_stream():
    rng = np.random.default_rng(0)
    with pytest.warns(ConvergenceWarning, match="no edge was found in 3000 filtered examples"):
        model = booster(max_tested=3000, max_restarts=2).fit_stream(
            lambda n: (rng.normal(size=(n, 3)), rng.integers(0, 2, n))
        )
    assert model.stop_reason_.startswith("no_edge: 2 restarts")
    short = booster(n_estimators=100).fit_stream(chunks(sampler(), 100, 500))
    assert short.stop_reason_ == "time_up: the stream ended after 50000 examples"
    assert 1 <= short.n_estimators_ < 100


def test_the_filter_accepts_by_the_weights():
    # Scores of a vote of two rounds; what gets through must have the share q of what came, cell by cell.
    rule = FilterBoostOracle(target_error=0.01)
    model = booster(n_estimators=2).fit_stream(sampler())
    rng = np.random.default_rng(5)
    X = rng.uniform(-1, 1, (60_000, 3))
    y = np.where(X.sum(axis=1) > 0, 1, -1).astype(np.int8)
    parts = iter([(X[i : i + 700], y[i : i + 700]) for i in range(0, 60_000, 700)])
    gate = Filter(rule, parts, rng)
    gate.begin(Ensemble(rule, model._ensemble.rounds, 2), Calls(0.01, 0.1, 100))
    got = []
    with suppress(StreamEnded):
        while True:
            got.append(gate.draw(50))
    assert all(len(b) == 50 for _, b in got)
    assert gate.seen == 60_000
    accepted = np.concatenate([a for a, _ in got])
    margin, through = (s * model.decision_function(Z) for s, Z in ((y, X), (np.sign(accepted.sum(axis=1)), accepted)))
    for v in np.unique(margin.round(9)):
        came, passed = (np.isclose(m, v).sum() for m in (margin, through))
        q = 1 / (1 + np.exp(v))
        assert abs(passed - came * q) <= 5 * np.sqrt(came * q * (1 - q)) + 50
    assert gate.calls.drawn + gate.gap == gate.seen  # every example was waited for, those after the last one still are


def test_examples_without_a_hit_count_in_the_next_wait():
    rule, rng = FilterBoostOracle(target_error=0.01), np.random.default_rng(0)
    model = booster(n_estimators=4).fit_stream(sampler(d=1))
    X = rng.uniform(-1, 1, (3000, 1))
    y = np.where(X[:, 0] > 0, 1, -1).astype(np.int8)  # most examples are right, so that they seldom get through
    gate = Filter(rule, iter([(X, y)]), rng, piece=3)
    gate.begin(Ensemble(rule, model._ensemble.rounds, 2), Calls(0.01, 0.1, 100))
    with suppress(StreamEnded):
        while True:
            gate.draw(1)
    assert 100 < gate.calls.r < 1000
    assert gate.calls.drawn + gate.gap == gate.seen == 3000


def test_tables_of_many_kinds_files_and_other_learners(tmp_path):
    names = ["a", "b", "c"]
    frame = booster().fit_stream(sampler(wrap=lambda X: pd.DataFrame(X, columns=names)))
    plain = booster().fit_stream(sampler())
    thin = booster().fit_stream(sampler(wrap=sparse.csr_array))
    X, y = sampler(1)(500)
    assert list(frame.feature_names_in_) == names
    assert frame.decision_function(pd.DataFrame(X, columns=names)).tobytes() == plain.decision_function(X).tobytes()
    assert thin.decision_function(sparse.csr_array(X)).tobytes() == plain.decision_function(X).tobytes()
    plain.save(tmp_path / "stream.boost")
    assert load(tmp_path / "stream.boost").decision_function(X).tobytes() == plain.decision_function(X).tobytes()
    for kwargs in ({"max_depth": 2}, {"estimator": KNeighborsClassifier(5)}):
        assert booster(n_estimators=3, n_examples=100, **kwargs).fit_stream(sampler()).score(X, y) > 0.7


def test_a_function_ends_the_stream_with_none():
    draw, left = sampler(), [30]

    def some(n):
        left[0] -= 1
        return draw(n) if left[0] >= 0 else None

    assert booster(n_estimators=100).fit_stream(some).stop_reason_ == "time_up: the stream ended after 30720 examples"


def test_no_learner_is_asked_about_no_rows():
    # Tests of whole pieces leave nothing over, and scikit-learn's estimators refuse tables without rows.
    rule = booster(n_examples=50)._oracle()
    learner = as_learner(DecisionTreeClassifier(max_depth=2), rule, "FilterBoostClassifier", None, None)
    draw = sampler()
    parts = ((X, np.where(y == "yes", np.int8(1), np.int8(-1))) for X, y in (draw(1000) for _ in range(1000)))
    rng = np.random.default_rng(0)
    stream = Filter(rule, parts, rng, piece=29)  # the first test of round 1 takes 3 times as many
    rounds, stop = StreamTraining(rule, learner, stream, Bins.fit, 10, rng).run(2)
    assert len(rounds) == 2
    assert stop.code == "max_rounds"


def test_wrong_streams_get_one_sentence():
    draw = sampler()
    with pytest.raises(ValueError, match='set mode="oracle"'):
        FilterBoostClassifier().fit_stream(draw)
    with pytest.raises(ValueError, match="early_stopping would need: leave early_stopping at its default"):
        booster(early_stopping=True).fit_stream(draw)
    with pytest.raises(ValueError, match="holds no examples"):
        booster().fit_stream(iter([]))
    with pytest.raises(ValueError, match=r"gives pairs \(X, y\), and this one gave int"):
        booster().fit_stream([3])
    with pytest.raises(ValueError, match=r"gives pairs \(X, y\), and this one gave ndarray"):
        booster().fit_stream(lambda n: np.zeros((n, 2)))
    with pytest.raises(ValueError, match=r"a function of n or an iterable of pairs \(X, y\), and this is NoneType"):
        booster().fit_stream(None)
    one = (np.zeros((3, 2)), ["yes"] * 3)
    with pytest.raises(ValueError, match=r"there are 1 in the first chunk; pass classes=\[...\] with both"):
        booster().fit_stream([one])
    with pytest.raises(ValueError, match="label maybe, which is not among"):
        booster().fit_stream([(np.zeros((2, 2)), ["yes", "no"]), (np.zeros((1, 2)), ["maybe"])] * 2)
    with pytest.raises(ValueError, match="X has 3 features"):
        booster().fit_stream([(np.zeros((2, 2)), ["yes", "no"]), (np.zeros((1, 3)), ["no"])])
    good = booster(n_estimators=2).fit_stream(draw)
    before = good.decision_function(draw(5)[0][:, :3] * 0)
    with pytest.raises(ValueError, match="holds no examples"):
        good.fit_stream([])
    assert good.decision_function(np.zeros((5, 3))).tobytes() == before.tobytes()  # the last model stays


def test_classes_may_be_named_when_the_first_chunk_has_one():
    draw = sampler()

    def parts():
        X, y = draw(400)
        yield X[y == "yes"], y[y == "yes"]
        yield from chunks(draw, 5000, 400)

    model = booster(n_estimators=3).fit_stream(parts(), classes=["yes", "no"])
    assert model.score(*draw(1000)) > 0.7
