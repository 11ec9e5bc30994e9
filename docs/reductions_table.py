"""Measure the reductions of docs/multiclass.md:  BOOSTLAB_DATA=folder python docs/reductions_table.py [rounds]."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
from multiclass_table import LEAVES, splits

from boostlab import AdaBoostClassifier, Binned, PairwiseClassifier

NAMES = ("vowel", "segmentation", "satimage", "pendigits")


def models(rounds: int) -> dict[str, Any]:
    """Return who is measured."""
    how = dict(max_leaf_nodes=LEAVES, n_estimators=rounds, n_jobs=1, random_state=0)
    forms = {form: AdaBoostClassifier(multiclass=form, **how) for form in ("auto", "ovr", "ovo", "ecoc")}
    pairs = {a: PairwiseClassifier(AdaBoostClassifier(**how), a) for a in ("coupling", "dag")}
    return {"SAMME": forms.pop("auto"), **forms, **{f"ovo, {a}": model for a, model in pairs.items()}}


def main(rounds: int) -> None:
    """Print the table."""
    names = list(models(rounds))
    print(f"| data | classes | {' | '.join(names)} |\n|---|---|{'---|' * len(names)}")
    for name in NAMES:
        X, X_test, y, y_test = splits(name)[0]
        train, cells = Binned.fit(X, n_jobs=1), []
        for model in models(rounds).values():
            found = model.fit(train, y).predict(X_test)
            cells.append(f"{100 * np.mean(found != y_test):.1f}")
        print(f"| {name} | {len(np.unique(y))} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 100)
