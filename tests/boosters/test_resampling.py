"""AdaBoost on drawn rows: draws, restarts, and the rows by which a drawn voter is measured."""

from math import log

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from boostlab import AdaBoostClassifier, AdaBoostM2Classifier, AdaBoostMHClassifier, DecisionStump
from boostlab.contract import Found, Learner, Session, Voter
from boostlab.learners.stump import StumpSession
from tables import noisy_table


def weights(y, F):
    """w_i proportional to exp(-y_i F_i), by the textbook formula."""
    logs = -y * F
    w = np.exp(logs - logs.max())
    return w / w.sum()


class Told(Voter):
    """A voter whose votes on the training rows are given."""

    bound = 1.0

    def __init__(self, votes):
        self.given = votes

    def votes(self, table):
        return self.given

    def predict(self, X):
        return self.given


class Moody(Learner, Session):
    """A learner that hands in the opposite of the truth `failures` times a round and then a good stump."""

    uses_bins = True

    def __init__(self, failures, y):
        self.failures, self.y = failures, y
        self.log = []

    def searches(self):
        return frozenset(["edge"])

    def begin(self, rows, rng):
        self.inner = DecisionStump().begin(rows, rng)
        self.bad = 0
        return self

    def best(self, task):
        self.log.append(task.counts)
        assert (task.weight == 1).all()  # the draw has taken the place of the weights
        if self.bad < self.failures:
            self.bad += 1
            return Found(Told(-self.y))
        self.bad = 0
        return self.inner.best(task)


def test_a_failing_learner_is_asked_again_with_a_fresh_draw(data):
    X, codes = data(seed=18, n=100, noise=0.1)
    y = 2.0 * codes - 1
    learner = Moody(3, y)
    model = AdaBoostClassifier(learner, n_estimators=5, resample=True, max_restarts=3, random_state=0).fit(X, codes)
    assert model.n_estimators_ == 5
    assert len(learner.log) == 5 * 4
    assert all(c.sum() == 100 for c in learner.log)
    assert len({c.tobytes() for c in learner.log}) == 20


@pytest.mark.parametrize("restarts", [0, 1, 4])
def test_a_learner_that_always_fails_ends_training(data, restarts):
    X, codes = data(seed=18, n=100, noise=0.1)
    learner = Moody(10**9, 2.0 * codes - 1)
    with pytest.warns(ConvergenceWarning, match="kept no voter"):
        model = AdaBoostClassifier(learner, resample=True, max_restarts=restarts, random_state=0).fit(X, codes)
    assert len(learner.log) == 1 + restarts
    assert model.stop_reason_.startswith("no_edge")


def test_without_a_draw_there_is_no_restart(data):
    # The same learner would give the same answer again.
    X, codes = data(seed=18, n=100, noise=0.1)
    calls = []

    class Stubborn(Moody):
        def best(self, task):
            calls.append(task.counts)
            return Found(Told(-self.y))

    with pytest.warns(ConvergenceWarning):
        AdaBoostClassifier(Stubborn(0, 2.0 * codes - 1)).fit(X, codes)
    assert calls == [None]


@pytest.mark.parametrize("resample", [True, "systematic"])
def test_the_error_is_measured_on_all_rows(data, replay, resample):
    X, codes = data(seed=19, n=120, noise=0.15)
    y = 2.0 * codes - 1
    model = AdaBoostClassifier(n_estimators=30, resample=resample, random_state=4).fit(X, codes)
    errors = []
    for before, h, alpha, _ in replay(model, X):
        errors.append(weights(y, before)[h != y].sum())
        assert alpha == pytest.approx(0.5 * log((1 - errors[-1]) / errors[-1]), rel=1e-11)
    np.testing.assert_allclose(model.history_["error"], errors, rtol=0, atol=1e-12)
    assert max(errors) < 0.5


@pytest.mark.parametrize("resample", [True, "systematic"])
def test_draws_follow_the_seed_and_not_the_row_order(data, same_stumps, resample):
    X, y = data(seed=20, n=120, noise=0.15)
    w = np.random.default_rng(0).integers(1, 4, len(y))
    order = np.random.default_rng(6).permutation(len(y))

    def fit(rows, seed):
        return AdaBoostClassifier(n_estimators=20, resample=resample, random_state=seed).fit(X[rows], y[rows], w[rows])

    rows = np.arange(len(y))
    one, again, permuted, other = fit(rows, 7), fit(rows, 7), fit(order, 7), fit(rows, 8)
    assert same_stumps(one, again)
    assert same_stumps(one, permuted)
    assert one.estimator_weights_.tobytes() == again.estimator_weights_.tobytes()
    assert one.estimator_weights_.tobytes() == permuted.estimator_weights_.tobytes()
    assert not same_stumps(one, other)


@pytest.mark.filterwarnings("ignore:.*kept no voter:sklearn.exceptions.ConvergenceWarning")
def test_restarts_only_ever_add_rounds():
    # Pure noise: drawn stumps fail often.  With the same seed restarts keep at least as many rounds.
    rng = np.random.default_rng(21)
    X, y = rng.normal(size=(60, 2)), rng.integers(0, 2, 60)
    for seed in range(5):
        short, long = (
            AdaBoostClassifier(n_estimators=60, resample=True, max_restarts=r, random_state=seed).fit(X, y)
            for r in (0, 10)
        )
        assert short.n_estimators_ <= long.n_estimators_


def test_a_drawn_stop_names_the_last_failure(data):
    X, codes = data(seed=18, n=100, noise=0.1)
    learner = Moody(10**9, 2.0 * codes - 1)
    with pytest.warns(ConvergenceWarning):
        model = AdaBoostClassifier(learner, resample=True, max_restarts=2, random_state=0).fit(X, codes)
    assert "2 restarts" in model.stop_reason_
    assert "weighted error 1" in model.stop_reason_


@pytest.mark.parametrize("make", [AdaBoostM2Classifier, AdaBoostMHClassifier])
def test_a_drawn_row_has_the_shares_of_its_labels(make, monkeypatch):
    """Rows are drawn by the sum of their labels' weights, so that each draw counts once, however light the row was."""
    X, y = noisy_table(60, seed=2)
    seen, best = [], StumpSession.best
    monkeypatch.setattr(StumpSession, "best", lambda self, task: (seen.append(task), best(self, task))[1])
    make(n_estimators=5, resample=True, random_state=0).fit(X, y + (X[:, 1] > 0))
    assert len(seen) >= 5
    for task in seen:
        assert task.counts.sum() == 60
        np.testing.assert_allclose(task.weight.sum(axis=1), 1.0)
