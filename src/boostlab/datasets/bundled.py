"""The data sets that come with scikit-learn."""

from __future__ import annotations

import numpy as np

from boostlab.datasets.catalogue import Facts
from boostlab.datasets.reading import Raw


def bundled(known: Facts) -> Raw | None:
    """Return a set that scikit-learn holds, under our names of columns and classes; None if it does not hold it.

    Of optdigits it holds the test part alone, which is the set `digits` here.
    """
    from sklearn import datasets

    if known.name not in ("wdbc", "wine", "digits"):
        return None
    if known.name == "wdbc":
        X, y = datasets.load_breast_cancer(return_X_y=True)
        y = np.array(["M", "B"])[y]
    elif known.name == "wine":
        X, y = datasets.load_wine(return_X_y=True)
        y = y + 1
    else:
        X, y = datasets.load_digits(return_X_y=True)
    return Raw(X, y, {}, tuple(known.feature_names), None)
