"""Histograms that follow their rows are, to the bit, those counted anew."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from boostlab.backend.cpu.bin_codes import DenseCodes
from boostlab.backend.cpu.followed_histograms import Follower
from boostlab.backend.cpu.masses import Masses
from boostlab.backend.cpu.scales import MOST
from boostlab.data.table import Bins


def following(*args, **kwargs):
    """Return a follower that looks for changes even of few rows."""
    follower = Follower(*args, **kwargs)
    follower.compares = True
    return follower


def some(seed, n=60, mass=None):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3)).round(1)
    rows = Masses(n, mass)
    return rng, rows, Bins.fit(X, rows, 8).encode(X, threads=2)


def check(follower, x, rows, codes):
    """Everything it says, against integers made from the values and the scale it chose."""
    counts = [1] * len(x) if rows.counts is None else rows.counts.tolist()
    unit = x if rows.mass is None else x * rows.mass
    q = [c * int(np.rint(np.ldexp(v, follower.power))) for v, c in zip(unit.tolist(), counts, strict=True)]
    assert follower.q.tolist() == q
    assert (follower.total, follower.gross) == (sum(q), sum(map(abs, q)))
    assert np.array_equal(follower.slots, codes.sums(np.array(q, np.int64), sided=follower.sided)[0])


def update(follower, x):
    follower.update(np.abs(x), np.sign(x))


@pytest.mark.parametrize("sided", [False, True])
@pytest.mark.parametrize("kind", ["none", "counts", "real"])
@settings(max_examples=30)
@given(seed=st.integers(0, 2**32))
def test_equal_to_a_recount(kind, sided, seed):
    rng = np.random.default_rng(seed)
    mass = {"none": None, "counts": rng.integers(1, 5, 60).astype(float), "real": rng.random(60) + 0.1}[kind]
    rng, rows, codes = some(seed, mass=mass)
    follower, x, scales = following(rows, codes, sided=sided), rng.normal(size=60), []
    for _ in range(12):
        update(follower, x)
        check(follower, x, rows, codes)
        assert follower.least <= follower.gross < MOST
        scales.append(follower.power)
        changed = rng.random(60) < rng.choice([0.0, 0.1, 0.5, 1.0])
        x = np.where(changed, x * rng.choice([0.5, 1.5, 4.0, -1.0]), x)
    assert len(set(scales)) < len(scales)  # a scale serves several rounds


@pytest.mark.parametrize("factor", [2.0**20, 2.0**-20, 2.0**300, 2.0**-300])
def test_a_scale_that_no_longer_fits_is_chosen_anew(factor):
    rng, rows, codes = some(1)
    follower, x = following(rows, codes), rng.random(60)
    update(follower, x)
    before = follower.power
    update(follower, x * factor)
    check(follower, x * factor, rows, codes)
    assert follower.power != before
    assert follower.least <= follower.gross < MOST


def test_the_way_does_not_matter_for_the_sums():
    """Another history may leave another scale, but what the sums are worth agrees to the digits kept."""
    rng, rows, codes = some(2)
    x = rng.normal(size=60)
    one, two = following(rows, codes), following(rows, codes)
    update(one, x * 3)
    for f in (one, two):
        update(f, x)
    np.testing.assert_allclose(np.ldexp(one.slots * 1.0, -one.power), np.ldexp(two.slots * 1.0, -two.power), atol=1e-14)


def test_all_zero_and_back():
    rng, rows, codes = some(3)
    follower = following(rows, codes)
    update(follower, np.zeros(60))
    assert follower.gross == 0
    x = rng.normal(size=60)
    update(follower, x)
    check(follower, x, rows, codes)
    update(follower, np.zeros(60))
    assert not follower.slots.any()


def test_what_is_no_number_is_refused_and_nothing_stays():
    rng, rows, codes = some(4)
    follower, x = following(rows, codes), rng.normal(size=60)
    update(follower, x)
    with pytest.raises(ArithmeticError, match="NaN or infinity"):
        update(follower, np.where(np.arange(60) == 3, np.nan, x))
    update(follower, x)
    check(follower, x, rows, codes)


def test_an_interrupt_in_the_middle_is_forgotten(monkeypatch):
    rng, rows, codes = some(5)
    follower, x = following(rows, codes), rng.normal(size=60)
    update(follower, x)
    y = np.where(np.arange(60) < 10, -x, x)

    def interrupted(*args, **kwargs):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(DenseCodes, "follow", interrupted)
        with pytest.raises(KeyboardInterrupt):
            update(follower, y)
    update(follower, y)
    check(follower, y, rows, codes)
