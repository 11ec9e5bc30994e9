"""The generators follow their published definitions."""

import numpy as np
import pytest

from boostlab.datasets import chi2_spheres, long_servedio, ringnorm, three_gaussians, twonorm, waveform, xor

N = 20_000
SHIFT = 2 / np.sqrt(20)
RANDOM = [
    (twonorm, 20, [-1, 1]),
    (ringnorm, 20, [-1, 1]),
    (waveform, 21, [0, 1, 2]),
    (three_gaussians, 2, [0, 1, 2]),
    (chi2_spheres, 10, [-1, 1]),
    (long_servedio, 21, [-1, 1]),
]


@pytest.mark.parametrize(("generate", "n_features", "labels"), RANDOM)
def test_shape_labels_and_balance(generate, n_features, labels):
    X, y = generate(N, random_state=0)
    assert X.shape == (N, n_features)
    assert X.dtype == np.float64
    found, counts = np.unique(y, return_counts=True)
    assert found.tolist() == labels
    # Five standard deviations of a count of independent, equally likely draws.
    p = 1 / len(labels)
    assert np.abs(counts / N - p).max() < 5 * np.sqrt(p * (1 - p) / N)


@pytest.mark.parametrize("generate", [row[0] for row in RANDOM])
def test_the_seed_decides_everything(generate):
    for a, b in zip(generate(50, random_state=3), generate(50, random_state=3), strict=True):
        np.testing.assert_array_equal(a, b)
    rng = np.random.default_rng(3)
    np.testing.assert_array_equal(generate(50, random_state=rng)[0], generate(50, random_state=3)[0])
    assert (generate(50, random_state=rng)[0] != generate(50, random_state=3)[0]).any()


def test_twonorm_moments():
    X, y = twonorm(N, random_state=1)
    for label in (-1, 1):
        np.testing.assert_allclose(X[y == label].mean(axis=0), label * SHIFT, atol=0.06)
        np.testing.assert_allclose(np.cov(X[y == label].T), np.eye(20), atol=0.08)


def test_ringnorm_moments():
    X, y = ringnorm(N, random_state=1)
    np.testing.assert_allclose(X[y == 1].mean(axis=0), 0, atol=0.12)
    np.testing.assert_allclose(np.cov(X[y == 1].T), 4 * np.eye(20), atol=0.3)
    np.testing.assert_allclose(X[y == -1].mean(axis=0), SHIFT, atol=0.06)
    np.testing.assert_allclose(np.cov(X[y == -1].T), np.eye(20), atol=0.08)


def test_waveform_moments():
    X, y = waveform(N, random_state=1)
    i = np.arange(1, 22)
    h1, h2, h3 = (np.maximum(6 - np.abs(i - peak), 0) for peak in (11, 15, 7))
    for label, (a, b) in enumerate([(h1, h2), (h1, h3), (h2, h3)]):
        part = X[y == label]
        np.testing.assert_allclose(part.mean(axis=0), (a + b) / 2, atol=0.12)
        # One u a row: Var u = 1/12 along a - b, plus the unit noise.
        np.testing.assert_allclose(np.cov(part.T), np.outer(a - b, a - b) / 12 + np.eye(21), atol=0.2)


def test_three_gaussians_are_round_and_apart():
    X, y = three_gaussians(N, side=4.0, random_state=1)
    centres = np.array([X[y == label].mean(axis=0) for label in range(3)])
    np.testing.assert_allclose(centres.mean(axis=0), 0, atol=0.05)
    for a, b in [(0, 1), (0, 2), (1, 2)]:
        assert np.linalg.norm(centres[a] - centres[b]) == pytest.approx(4.0, abs=0.1)
    for label in range(3):
        np.testing.assert_allclose(np.cov(X[y == label].T), np.eye(2), atol=0.08)


def test_chi2_spheres_definition():
    X, y = chi2_spheres(N, random_state=1)
    np.testing.assert_array_equal(y == 1, (X**2).sum(axis=1) < 9.34182)
    np.testing.assert_allclose(np.cov(X.T), np.eye(10), atol=0.06)


def test_xor_is_the_textbooks():
    X, y = xor()
    assert X.tolist() == [[1, 0], [-1, 0], [0, 1], [0, -1]]
    assert y.tolist() == [1, 1, -1, -1]


def test_long_servedio_kinds():
    X, y = long_servedio(N, random_state=1)
    agrees = y[:, None] == X
    first, last = agrees[:, :11].sum(axis=1), agrees[:, 11:].sum(axis=1)
    kinds = {(11, 10): 0.25, (11, 0): 0.25, (5, 6): 0.5}
    for (a, b), share in kinds.items():
        assert np.mean((first == a) & (last == b)) == pytest.approx(share, abs=0.02)
    assert set(zip(first.tolist(), last.tolist(), strict=True)) == set(kinds)
    penalisers = agrees[(first == 5) & (last == 6)]
    np.testing.assert_allclose(penalisers.mean(axis=0), [5 / 11] * 11 + [6 / 10] * 10, atol=0.03)
