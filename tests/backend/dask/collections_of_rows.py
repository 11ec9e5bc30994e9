"""A small sample as Dask collections, its model, and what a fit leaves on a cluster."""

from __future__ import annotations

import time

import dask.array as da
import numpy as np

from boostlab.backend.dask import worker


def sample(n=240, d=4, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    return X, (X[:, 0] + X[:, 1] ** 2 + rng.normal(size=n) > 1).astype(int)


def collections(X, y, size=60):
    return da.from_array(X, chunks=(size, X.shape[1])), da.from_array(y, chunks=size)


def votes(model):
    return repr(model.estimators_), np.asarray(model.estimator_weights_).tolist()


def held():
    """Return how many parts this process holds."""
    return len(worker.HELD)


def left_on(client):
    """Return the parts and tasks that the cluster still holds, after a moment."""
    for _ in range(100):
        tasks = client.run_on_scheduler(lambda dask_scheduler: list(map(str, dask_scheduler.tasks)))
        parts = sum(client.run(held).values())
        if not (parts or tasks):
            break
        time.sleep(0.05)
    return parts, tasks
