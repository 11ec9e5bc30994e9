"""Models of all boosters on a small table, without those whose coefficients are a program's.

Run as a script it prints every one's name and the digest of its coefficients' and scores' bits.
"""

from __future__ import annotations

import hashlib

import numpy as np

from boostlab.boosters import REGISTRY


def table() -> tuple[np.ndarray, np.ndarray]:
    """Return numbers and noisy labels."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 4))
    return X, (X[:, 0] + X[:, 1] ** 2 + 0.5 * rng.normal(size=120) > 0.5).astype(int)


def digests() -> list[str]:
    """Return a line for every booster."""
    X, y = table()
    lines = []
    for name, entry in REGISTRY.items():
        if entry.optimum is None:
            model = entry.cls(n_estimators=8, random_state=0).fit(X, y)
            found = hashlib.sha256(np.concatenate([np.ravel(model.estimator_weights_), model.decision_function(X)]))
            lines.append(f"{name} {found.hexdigest()[:16]}")
    return lines


if __name__ == "__main__":
    print(*digests(), sep="\n")
