"""Golden models: a few hundred fits whose votes are recorded before a rebuild and compared after each step.

    python tests/golden.py record FILE      write the models of this code
    python tests/golden.py compare FILE     compare this code with them: the same voters, scores to 1e-12
    python tests/golden.py compare FILE --only BrownBoost,WeightBoost     these boosters only

Only public names are used, so that a file recorded before subpackages moved can be compared after.
"""

from __future__ import annotations

import inspect
import sys
import time
import warnings

import numpy as np
from scipy import sparse

import boostlab

CLOSE = 1e-12  # of the largest score
# Boosters whose coefficients come from a solver agree to its tolerance.
SOLVED = {"LPBoost": 1e-6, "ERLPBoost": 1e-6, "SoftBoost": 1e-6, "TotalBoost": 1e-6, "RLPBoost": 1e-6, "RQPBoost": 1e-6}
LEARNERS = {
    "stump": {},
    "leaves4": {"max_leaf_nodes": 4},
    "depth3": {"max_depth": 3},
    "leaves31": {"max_leaf_nodes": 31},
    "full": {"estimator": "tree"},
}


def numbers(n=240, d=6, seed=0):
    """A noisy binary problem."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    X[:, -1] = np.round(X[:, -1])
    y = (X[:, 0] + X[:, 1] ** 2 + 0.5 * X[:, -1] > 0.7).astype(int)
    return X, np.where(rng.random(n) < 0.1, 1 - y, y)


def tables():
    """Name, X, y, what `fit` is given beside them, and constructor parameters."""
    rng = np.random.default_rng(1)
    X, y = numbers()
    n = len(y)
    yield "plain", X, y, {}, {}
    yield "counts", X, y, {"sample_weight": rng.integers(1, 4, n)}, {}
    yield "real_weights", X, y, {"sample_weight": rng.exponential(size=n) + 0.01}, {}
    yield "balanced", X, y, {}, {"class_weight": "balanced"}
    yield "exact_bins", X, y, {}, {"max_bins": "exact"}
    yield "few_bins", X, y, {}, {"max_bins": 7}
    gaps = X.copy()
    gaps[:, 2] = rng.integers(0, 5, n)
    gaps[:, 3] = rng.integers(0, 3, n)
    gaps[rng.random(X.shape) < 0.1] = np.nan
    yield "missing", gaps, y, {}, {}
    yield "categories", gaps, y, {}, {"categorical_features": [2, 3]}
    zeros = np.where(rng.random(X.shape) < 0.6, 0.0, X)
    yield "sparse", sparse.csr_array(zeros), y, {}, {}
    classes = np.digitize(X[:, 0] + 0.3 * X[:, 1], [-0.5, 0.5])
    yield "classes", X, classes, {}, {}
    yield "classes_ovo", X, classes, {}, {"multiclass": "ovo"}
    yield "classes_missing", gaps, classes, {"sample_weight": rng.integers(1, 4, n)}, {"categorical_features": [2, 3]}
    held = numbers(100, seed=5)
    yield "early", X, y, {"X_val": held[0], "y_val": held[1]}, {"early_stopping": True}
    yield "resample", X, y, {}, {"resample": True}
    big = numbers(6000, 12, seed=3)
    yield "large", *big, {}, {}
    yield "large_classes", big[0], np.digitize(big[0][:, 0] + 0.3 * big[0][:, 1], [-0.5, 0.5]), {}, {}


def wanted(booster, learner, table):
    """Whether the pair is worth its time: every booster with stumps on all, with trees on some."""
    if learner == "stump":
        return table not in ("large", "large_classes") or booster not in SOLVED
    few = {"plain", "counts", "real_weights", "missing", "categories", "sparse", "classes", "few_bins"}
    if learner == "leaves4":
        return table in few
    main = booster in {"AdaBoost", "LogitBoost", "VadaBoost", "ARBoost", "GentleBoost", "SAMME", "AdaBoostMH"}
    return main and (table in few or table.startswith("large"))


def fits(only):
    """Every fit: its name and how to make it."""
    names = [n for n in dir(boostlab) if n.endswith(("Classifier", "Regressor"))]
    for name in names:
        cls, booster = getattr(boostlab, name), name.removesuffix("Classifier")
        takes = inspect.signature(cls).parameters
        if "n_estimators" not in takes or (only and booster not in only):
            continue
        for learner, how in LEARNERS.items():
            for table, X, y, fit, given in tables():
                params = {"n_estimators": 12, "random_state": 0, **how, **given}
                if wanted(booster, learner, table) and all(p in takes for p in params):
                    yield f"{booster}/{learner}/{table}", cls, params, X, y, fit


def look(model, X):
    """What is compared: scores, coefficients, every round's votes and the reason to stop."""
    scores = model.predict(X) if not hasattr(model, "decision_function") else model.decision_function(X)
    seen = {"scores": np.asarray(scores, float)}
    if isinstance(getattr(model, "history_", None), dict) and len(X.shape) and hasattr(model, "estimator_weights_"):
        seen["alphas"] = np.asarray(model.estimator_weights_, float)
        if hasattr(model, "staged_decision_function"):
            seen["stages"] = np.array([s[:40] for s in model.staged_decision_function(X)], float)
        seen["stop"] = np.array(str(model.stop_reason_).split(":")[0])
    return seen


def all_models(only=()):
    """Fit everything."""
    warnings.simplefilter("ignore")
    for name, cls, params, X, y, fit in fits(only):
        try:
            yield name, look(cls(**params).fit(X, y, **fit), X)
        except (ValueError, TypeError) as error:
            yield name, {"refused": np.array(str(error)[:60])}


def differs(name, old, new):
    """Say how two fits differ, or return None."""
    booster = name.split("/")[0]
    if old.keys() != new.keys():
        return f"{sorted(old)} became {sorted(new)}: {new.get('refused', old.get('refused'))}"
    for key in old:
        a, b = old[key], new[key]
        if a.dtype.kind in "US":
            if a != b and key != "refused":
                return f"{key}: {a} became {b}"
        elif a.shape != b.shape:
            return f"{key}: shape {a.shape} became {b.shape}"
        elif a.size:
            top = max(np.abs(a).max(), 1e-300)
            gap = np.abs(a - b).max() / top
            if not gap <= SOLVED.get(booster, CLOSE):
                return f"{key}: differ by {gap:.2e}"
    return None


def main(what, path, option="", names=""):
    """Record or compare."""
    only = set(names.split(",")) if option == "--only" else set()
    start = time.perf_counter()
    if what == "record":
        packed = {f"{name}|{key}": a for name, seen in all_models(only) for key, a in seen.items()}
        np.savez_compressed(path, **packed)
        print(f"{len({k.split('|')[0] for k in packed})} fits in {time.perf_counter() - start:.0f} s")
        return 0
    recorded: dict[str, dict[str, np.ndarray]] = {}
    with np.load(path) as file:
        for key in file.files:
            name, part = key.split("|")
            if only and name.split("/")[0] not in only:
                continue
            recorded.setdefault(name, {})[part] = file[key]
    bad = same = 0
    new = {}
    for name, seen in all_models(only):
        new[name] = seen
        if name not in recorded:
            print("new  ", name)
            continue
        said = differs(name, recorded[name], seen)
        if said:
            bad += 1
            print("DIFF ", name, said)
        else:
            same += all(np.array_equal(a, seen[k], equal_nan=a.dtype.kind == "f") for k, a in recorded[name].items())
    for name in recorded.keys() - new.keys():
        bad += 1
        print("GONE ", name)
    print(f"{len(new)} fits, {same} the same to the bit, {bad} differ; {time.perf_counter() - start:.0f} s")
    return bad > 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
