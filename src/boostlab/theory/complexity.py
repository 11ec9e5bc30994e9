"""How well voters can follow random signs: their Rademacher complexity on a sample, by Monte Carlo."""

from __future__ import annotations

from dataclasses import dataclass
from math import log, sqrt
from typing import Any

import numpy as np
from sklearn.utils.validation import check_array

from boostlab.backend import Masses
from boostlab.contract import Learner, Rule
from boostlab.data.matrix import by_rows, canonical_order, is_sparse
from boostlab.data.table import Bins, Table
from boostlab.learners import DecisionStump, VoterPool
from boostlab.learners.complexity import suprema
from boostlab.learners.resolve import as_learner
from boostlab.theory.bound import check_delta, check_positive


@dataclass(frozen=True)
class Complexity:
    """A Monte-Carlo estimate of E sup_h |mean(sigma h)|.

    Attributes
    ----------
    value : float
        The mean over the draws.
    standard_error : float
        Its error bar.
    draws : int
        How many random sign vectors.
    n : int
        Number of rows.
    exact : bool
        Whether every supremum is the true one (stumps, pools) and not only what a learner found (trees, scikit-learn
        estimators), which is an estimate from below.
    """

    value: float
    standard_error: float
    draws: int
    n: int
    exact: bool

    def upper(self, delta: float) -> float:
        """Return a value that the true complexity exceeds with probability at most delta.

        One of the n B signs moves the mean of B suprema by at most 2 / (n B), so by McDiarmid's inequality
        value + sqrt(2 ln(1/delta) / (n B)).

        Parameters
        ----------
        delta : float
            Between 0 and 1.

        Returns
        -------
        float
        """
        return self.value + sqrt(2 * log(1 / check_delta(delta)) / (self.n * self.draws))


def rademacher_complexity(
    X: Any, estimator: Any = None, draws: int = 200, random_state: int | np.random.Generator | None = None
) -> Complexity:
    """Return the empirical Rademacher complexity of a weak learner's voters, which say -1 or +1.

    For stumps every cut between distinct values counts (no bins), and so do the two constant votes, so it is that of
    *all* stumps, also of those with unequal leaves in [-1, 1].

    Parameters
    ----------
    X : array or sparse matrix of shape (n_rows, n_features)
        Numbers, NaN for missing values.
    estimator : None, "stump", "tree", DecisionStump, DecisionTree, VoterPool or scikit-learn classifier, default=None
        The weak learner.
    draws : int, default=200
        B, the number of random sign vectors.
    random_state : int, numpy Generator or None, default=None
        Seed.

    Returns
    -------
    Complexity

    References
    ----------
    Bartlett & Mendelson 2002, Rademacher and Gaussian complexities.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.random.default_rng(0).normal(size=(400, 5))
    >>> stumps = rademacher_complexity(X, draws=50, random_state=0)
    >>> stumps.exact, stumps.value < massart(2002, 400)
    (True, True)
    """
    check_positive("draws", draws, 1)
    if is_sparse(X):
        X = by_rows(X)
    else:
        X = check_array(X, dtype=np.float64, ensure_all_finite="allow-nan")
    learner = as_learner(estimator, Rule(), "rademacher_complexity")
    return measure(learner, X, {}, draws, np.random.default_rng(random_state))


def measure(learner: Learner, X: Any, n_categories: dict[int, int], draws: int, rng: np.random.Generator) -> Complexity:
    """Return a learner's complexity on a checked table."""
    rows = Masses(X.shape[0])
    bins = Bins.fit(X, rows, "exact", 1, n_categories) if learner.uses_bins else None
    order = canonical_order(X, np.zeros(rows.n_rows), rows.masses)
    table = Table.of(X, bins)
    finite = isinstance(learner, VoterPool)  # its voters are listed: constants belong to it only if they are
    sups = suprema(learner, table, rows, order, rng, draws, constants=not finite)
    exact = finite or isinstance(learner, DecisionStump)
    return Complexity(float(sups.mean()), float(sups.std(ddof=1) / sqrt(draws)), draws, rows.n_rows, exact)


def massart(n_labellings: float, n: int) -> float:
    """Return Massart's bound on the Rademacher complexity: sqrt(2 ln N / n) for N classifiers, or ways to label n rows.

    Parameters
    ----------
    n_labellings : float
        N, at least 1; for stumps `stump_dichotomies`.
    n : int
        Number of rows.

    Returns
    -------
    float

    References
    ----------
    Massart 2000.

    Examples
    --------
    >>> massart(1, 10)
    0.0
    """
    return sqrt(2 * log(check_positive("n_labellings", n_labellings, 1, open_=False)) / check_positive("n", n))


def certain(complexity: float | Complexity, delta: float) -> tuple[float, float, bool]:
    """Return a complexity that may be relied on, the part of delta that is left, and whether it may indeed."""
    if isinstance(complexity, Complexity):
        return complexity.upper(delta / 10), 0.9 * delta, complexity.exact
    return check_positive("complexity", complexity, open_=False), delta, True
