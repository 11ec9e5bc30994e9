"""Generalisation bounds from the margins of the training rows.

All assume rows drawn independently and normalised margins y F / sum alpha of a vote with non-negative coefficients, and
all hold for every such vote at once, however it was trained.  Those with `n_voters` are for a finite class of |H|
label voters that was fixed before the data were seen.  Their constants are quoted, and not checked against the original
articles (`constants_unverified`), except for `schapire` and `koltchinskii_panchenko`, which were derived again.
"""

from __future__ import annotations

from math import exp, inf, log, log2, sqrt
from typing import Any

import numpy as np
import numpy.typing as npt

from boostlab.theory.bound import Array, Bound, bound, check_delta, check_margins, check_positive
from boostlab.theory.complexity import Complexity, certain

THETAS = np.arange(1, 101) / 100


def schapire(margins: npt.ArrayLike, n_voters: float, delta: float = 0.05, theta: float | None = None) -> Bound:
    """Return the margin bound of Schapire, Freund, Bartlett and Lee (2.20), with its constants.

    `P_S[margin <= theta] + 2 e^(-N theta^2 / 8) + sqrt(ln(N (N + 1)^2 |H|^N / delta) / (2m))`, the best N.  It holds
    for all N and all theta at once (a vote of N voters takes N + 1 values only), so both may be chosen afterwards.

    Parameters
    ----------
    margins : array-like of shape (m,)
        Normalised margins of the training rows.
    n_voters : float
        |H|.
    delta : float, default=0.05
        Probability of failure.
    theta : float in (0, 1], optional
        The margin to look at; the best hundredth by default.

    Returns
    -------
    Bound

    References
    ----------
    Schapire, Freund, Bartlett & Lee 1998, Theorem 1 and its proof.

    Examples
    --------
    >>> found = schapire([0.8] * 100_000, n_voters=20)
    >>> found.vacuous, found.terms["margin error"]
    (False, 0.0)
    """
    v, H = check_margins(margins), _class_size(n_voters)
    m, delta = len(v), check_delta(delta)
    t = np.array(_thetas(theta))[:, None]
    most = 16 / float(t.min()) ** 2 * log(max(m, 3))
    N = np.unique(np.geomspace(1, most, 1000).astype(np.int64)).astype(np.float64)
    vote = 2 * np.exp(-N * t**2 / 8)
    count = np.sqrt((np.log(N) + 2 * np.log(N + 1) + N * log(H) - log(delta)) / (2 * m))
    share = np.searchsorted(v, t, "right") / m
    values = share + vote + count
    a, b = np.unravel_index(int(values.argmin()), values.shape)
    terms = {
        "margin error": share[a, 0],
        "sampled vote": vote[a, b],
        "complexity": count[b],
        "theta": t[a, 0],
        "N": N[b],
    }
    return bound(float(values[a, b]), terms)


def koltchinskii_panchenko(
    margins: npt.ArrayLike, complexity: float | Complexity, delta: float = 0.05, theta: float | None = None
) -> Bound:
    """Return the margin bound by Rademacher complexity, for voters with values in [-1, 1], finitely many or not.

    For a margin theta chosen in advance: P_S[margin <= theta] + (2/theta) R + 3 sqrt(ln(1/delta) / (2m)).
    For all theta at once: P_S[margin <= theta] + (4/theta) R + 3 sqrt(ln log2(2/theta) / m) + 3 sqrt(ln(2/delta) /
    (2m)), of which the smallest is taken.  R is the *empirical* Rademacher complexity of the voters (and so of their
    votes).  The 3 before the third term is ours: one row makes a difference of up to 3/m to the error and R together.

    Parameters
    ----------
    margins : array-like of shape (m,)
        Normalised margins of the training rows.
    complexity : float or Complexity
        R; where it is a Monte-Carlo estimate, a tenth of delta is spent on its error.
    delta : float, default=0.05
        Probability of failure.
    theta : float in (0, 1], optional
        The margin, if it was chosen before the data were seen.

    Returns
    -------
    Bound

    References
    ----------
    Koltchinskii & Panchenko 2002; Mohri, Rostamizadeh & Talwalkar 2012, chapters 4 and 6.

    Examples
    --------
    >>> found = koltchinskii_panchenko([0.5] * 10_000, 0.01, theta=0.4)
    >>> round(found.terms["complexity"], 3), round(found.value, 4)
    (0.05, 0.0867)
    """
    v, delta = check_margins(margins), check_delta(delta)
    m = len(v)
    R, delta, sound = certain(complexity, delta)
    uniform = theta is None
    best: dict[str, float] = {}
    for t in _thetas(theta):
        terms = {
            "margin error": float(np.searchsorted(v, t, "right")) / m,
            "complexity": (4 if uniform else 2) / t * R,
            "all margins": 3 * sqrt(log(log2(2 / t)) / m) if uniform else 0.0,
            "deviation": 3 * sqrt(log((2 if uniform else 1) / delta) / (2 * m)),
        }
        best = _better(best, terms | {"theta": t}, tuple(terms))
    return bound(best.pop("value"), best, 1.0, {"complexity is not an estimate from below": sound})


def breiman(margins: npt.ArrayLike, n_voters: float, delta: float = 0.05) -> Bound:
    """Return Breiman's bound by the smallest margin.

    theta = the smallest margin > 4 sqrt(2/|H|), R = 32 ln(2|H|) / (m theta^2) <= 2m: error <= R (ln(2m) + ln(1/R) + 1)
    + ln(|H|/delta) / m.

    Parameters
    ----------
    margins, n_voters, delta
        As for `schapire`.

    Returns
    -------
    Bound

    References
    ----------
    Breiman 1999, Prediction games and arcing algorithms.

    Examples
    --------
    >>> breiman([0.9] * 100_000, n_voters=100).vacuous
    False
    """
    v, H = check_margins(margins), _class_size(n_voters)
    m, theta, delta = len(v), float(v[0]), check_delta(delta)
    R = 32 * log(2 * H) / (m * theta**2) if theta > 0 else inf
    least = 4 * sqrt(2 / H)
    checks = {"smallest margin > 4 sqrt(2/|H|)": theta > least, "R <= 2m": 2 * m >= R}
    spread = R * (log(2 * m) + log(1 / R) + 1) if all(checks.values()) else inf
    terms = {"minimum margin": spread, "class": log(H / delta) / m, "theta": theta, "R": R}
    return bound(spread + terms["class"], terms, 1.0, checks, unverified=True)


def kl_inverse(q: npt.ArrayLike, u: npt.ArrayLike) -> Any:
    """Return the smallest p >= q with KL(q || p) >= u, KL between coins; 1 if there is none.

    Parameters
    ----------
    q : float or array in [0, 1]
        The observed share.
    u : float or array
        At least 0.

    Returns
    -------
    float or array

    Examples
    --------
    >>> import numpy as np
    >>> bool(np.isclose(kl_inverse(0.0, 0.5), 1 - np.exp(-0.5)))
    True
    """
    q, u = np.broadcast_arrays(np.asarray(q, np.float64), np.asarray(u, np.float64))
    if not ((q >= 0) & (q <= 1)).all() or np.isnan(u).any():
        raise ValueError("q must hold shares between 0 and 1, and u numbers.")
    low, high = q.copy(), np.ones_like(q)
    for _ in range(60):
        middle = (low + high) / 2
        enough = _kl(q, middle) >= u
        low, high = np.where(enough, low, middle), np.where(enough, middle, high)
    high = np.where(u <= 0, q, high)
    return float(high) if high.ndim == 0 else high


def emargin(margins: npt.ArrayLike, n_voters: float, delta: float = 0.05) -> Bound:
    """Return the equilibrium margin bound.

    ln|H| / m + the smallest KLinv(q; u(theta(q))) over q = k/m, where theta(q) = sup{theta in (sqrt(8/|H|), 1] :
    P_S[theta] <= q} and u(theta) = ((8 ln|H| / theta^2) ln(2 m^2 / ln|H|) + ln|H| + ln(m/delta)) / m.  The best
    theta is the Emargin, its q the Emargin error (both are among the terms).

    Parameters
    ----------
    margins, n_voters, delta
        As for `schapire`; |H| above 8.

    Returns
    -------
    Bound

    References
    ----------
    Wang, Sugiyama, Yang, Zhou & Feng 2011, A refined margin analysis for boosting algorithms via equilibrium margin.

    Examples
    --------
    >>> found = emargin([0.1] + [0.9] * 99_999, n_voters=100)
    >>> found.terms["emargin"], found.vacuous
    (0.9, False)
    """
    v, H = check_margins(margins), _class_size(n_voters)
    m, delta, floor = len(v), check_delta(delta), sqrt(8 / H)
    first = int(np.searchsorted(v, floor, "right"))
    checks = {"|H| > 8": H > 8, "some margin > sqrt(8/|H|)": first < m}
    if not all(checks.values()):
        return bound(inf, {"class": log(H) / m}, 1.0, checks, unverified=True)
    k = np.arange(first, m)  # q = k/m; theta(q) is the (k+1)-th smallest margin
    u = (8 * log(H) / v[k] ** 2 * log(2 * m**2 / log(H)) + log(H) + log(m / delta)) / m
    values = kl_inverse(k / m, u)
    best = int(values.argmin())
    terms = {"class": log(H) / m, "margin": values[best], "emargin": v[k[best]], "emargin error": k[best] / m}
    return bound(terms["class"] + terms["margin"], terms, 1.0, checks, unverified=True)


def kth_margin(margins: npt.ArrayLike, n_voters: float, k: int | None = None, delta: float = 0.05) -> Bound:
    """Return Gao and Zhou's bound by the k-th smallest margin.

    theta = the k-th smallest margin > sqrt(8/|H|): ln|H| / m + KLinv((k - 1)/m; q/m), q = (8 ln(2|H|) / theta^2)
    ln(2 m^2 / ln|H|) + ln|H| + ln(m/delta).

    Parameters
    ----------
    margins, n_voters, delta
        As for `schapire`.
    k : int, optional
        Counted from 1; 1 is the minimum margin.  By default the best one.

    Returns
    -------
    Bound

    References
    ----------
    Gao & Zhou 2013, On the doubt about margin explanation of boosting, Theorem 1.

    Examples
    --------
    >>> import numpy as np
    >>> v = np.linspace(0.2, 0.9, 50_000)
    >>> kth_margin(v, 100).value <= kth_margin(v, 100, k=1).value
    True
    """
    v, H = check_margins(margins), _class_size(n_voters)
    m, delta = len(v), check_delta(delta)
    if k is not None and not (1 <= k <= m and k == int(k)):
        raise ValueError(f"k={k!r} is not possible; there are {m} margins, counted from 1.")
    floor = sqrt(8 / H)
    ks = np.arange(int(np.searchsorted(v, floor, "right")) + 1, m + 1) if k is None else np.array([int(k)])
    checks = {"|H| > 1": H > 1, "k-th margin > sqrt(8/|H|)": len(ks) > 0 and bool(v[ks[0] - 1] > floor)}
    if not all(checks.values()):
        return bound(inf, {"class": log(H) / m}, 1.0, checks, unverified=True)
    theta = v[ks - 1]
    q = 8 * log(2 * H) / theta**2 * log(2 * m**2 / log(H)) + log(H) + log(m / delta)
    values = kl_inverse((ks - 1) / m, q / m)
    best = int(values.argmin())
    terms = {"class": log(H) / m, "margin": values[best], "k": ks[best], "theta": theta[best]}
    return bound(terms["class"] + terms["margin"], terms, 1.0, checks, unverified=True)


def gao_zhou(margins: npt.ArrayLike, n_voters: float, delta: float = 0.05) -> Bound:
    """Return Gao and Zhou's bound in the same factors as Schapire's.

    2/m + inf over theta of p + (7 mu + 3 sqrt(3 mu)) / (3m) + sqrt(3 mu p / m), p = P_S[margin < theta],
    mu = (8/theta^2) ln m ln(2|H|) + ln(2|H|/delta); m >= 5.

    Parameters
    ----------
    margins, n_voters, delta
        As for `schapire`.

    Returns
    -------
    Bound

    References
    ----------
    Gao & Zhou 2013, Theorem 3.

    Examples
    --------
    >>> gao_zhou([0.9] * 100_000, n_voters=100).vacuous
    False
    """
    v, H = check_margins(margins), _class_size(n_voters)
    m, delta = len(v), check_delta(delta)
    best: dict[str, float] = {}
    for t in THETAS:
        p = float(np.searchsorted(v, t, "left")) / m
        mu = 8 / t**2 * log(m) * log(2 * H) + log(2 * H / delta)
        terms = {
            "constant": 2 / m,
            "margin error": p,
            "complexity": (7 * mu + 3 * sqrt(3 * mu)) / (3 * m),
            "variance": sqrt(3 * mu * p / m),
        }
        best = _better(best, terms | {"theta": t, "mu": mu}, tuple(terms))
    return bound(best.pop("value"), best, 1.0, {"m >= 5": m >= 5}, unverified=True)


def gao_zhou_average(margins: npt.ArrayLike, n_voters: float, delta: float = 0.05) -> Bound:
    """Return Gao and Zhou's bound by the average margin and the margins' spread.

    m^-50 + inf over theta of p + m^(-2 / (1 - E^2 + theta/9)) + 3 sqrt(mu) m^(-3/2) + 7 mu / (3m) + sqrt(3 mu I / m),
    E the average margin, p = P_S[margin < theta], mu = (144/theta^2) ln m ln(2|H|) + ln(2|H|/delta),
    I = p P_S[margin >= 2 theta / 3]; m >= 5.

    Parameters
    ----------
    margins, n_voters, delta
        As for `schapire`.

    Returns
    -------
    Bound

    References
    ----------
    Gao & Zhou 2013, Theorem 4.

    Examples
    --------
    >>> gao_zhou_average([0.9] * 1_000_000, n_voters=100).vacuous
    False
    """
    v, H = check_margins(margins), _class_size(n_voters)
    m, delta, E = len(v), check_delta(delta), float(v.mean())
    best: dict[str, float] = {}
    for t in THETAS:
        p = float(np.searchsorted(v, t, "left")) / m
        high = 1 - float(np.searchsorted(v, 2 * t / 3, "left")) / m
        mu = 144 / t**2 * log(m) * log(2 * H) + log(2 * H / delta)
        terms = {
            "constant": float(m) ** -50,
            "margin error": p,
            "average margin": exp(-2 * log(m) / (1 - E**2 + t / 9)),
            "complexity": 3 * sqrt(mu) * m**-1.5 + 7 * mu / (3 * m),
            "spread": sqrt(3 * mu * p * high / m),
        }
        best = _better(best, terms | {"theta": t, "mu": mu, "mean": E}, tuple(terms))
    return bound(best.pop("value"), best, 1.0, {"m >= 5": m >= 5}, unverified=True)


def _kl(q: Array, p: Array) -> Array:
    with np.errstate(divide="ignore", invalid="ignore"):
        one = np.where(q > 0, q * np.log(q / p), 0.0)
        other = np.where(q < 1, (1 - q) * np.log((1 - q) / (1 - p)), 0.0)
    return one + other


def _class_size(n_voters: float) -> float:
    return check_positive("n_voters", n_voters, 1.0, open_=False)


def _thetas(theta: float | None) -> list[float]:
    if theta is None:
        return [float(t) for t in THETAS]
    if not 0.0 < theta <= 1.0:
        raise ValueError(f"theta={theta!r} is not possible; a margin to look at lies above 0 and is at most 1.")
    return [float(theta)]


def _better(best: dict[str, float], terms: dict[str, float], added: tuple[str, ...]) -> dict[str, float]:
    """Return the terms with the smaller sum, which is kept as "value"."""
    value = float(sum(terms[name] for name in added))
    return {**terms, "value": value} if not best or value < best["value"] else best
