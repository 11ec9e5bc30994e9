"""How a fitted booster explains itself."""

from __future__ import annotations

import os
from typing import Any

from boostlab.backend import CpuRows
from boostlab.boosters.voting import Fitted


class Explaining(Fitted):
    """Contributions of features, and what a model keeps of its training rows for them."""

    n_features_in_: int
    _reference: Any

    def _remember(self, rows: Any) -> None:
        """Keep some training rows in memory, until it is known how all of them part at the nodes of the vote."""
        from boostlab.explain.reference import Reference

        self._forget()
        first = self._ensemble.first_voter
        if first is not None and (first[0] if isinstance(first, tuple) else first).stored_as:
            used, _ = self._ensemble.shares_of_used(self.n_features_in_)
            here = isinstance(rows, CpuRows)
            self._reference = Reference.of(rows.table, rows.masses, used) if here else Reference.of_parts(rows, used)

    def _forget(self) -> None:
        for name in ("_forest", "_reference", "_low_share"):
            self.__dict__.pop(name, None)

    def _settle_shares(self) -> None:
        """Count how the rows that were kept part, and drop them."""
        if self.__dict__.get("_reference") is not None:
            from boostlab.explain.forest import NotAdditive
            from boostlab.explain.parts import forest_and_shares

            try:
                forest_and_shares(self)
            except NotAdditive:
                self._reference = None

    def contributions(self, X: Any, background: Any = None) -> Any:
        """Return what every feature adds to the scores: exact Shapley values.

        Parameters
        ----------
        X : array-like of shape (n_rows, n_features)
            Rows to explain.
        background : array-like of shape (m, n_features), optional
            Rows that stand for features that are left out (interventional values).  Without them values are
            path-dependent: by the shares in which training rows part at every node.

        Returns
        -------
        boostlab.explain.Contributions
            `values` of shape (n_rows, n_features), or (n_rows, n_features, n_classes) for three or more classes, in the
            units of `decision_function` (of `predict`, for a regressor); with `base_values` they add up to it.  All
            pairs (`multiclass="ovo"`) and codes ("ecoc") have one score a binary problem, named in `output_names`.

        Examples
        --------
        >>> import numpy as np
        >>> from boostlab import LogitBoostClassifier
        >>> from boostlab.datasets import twonorm
        >>> X, y = twonorm(200, random_state=0)
        >>> model = LogitBoostClassifier(max_depth=2, n_estimators=10).fit(X, y)
        >>> told = model.contributions(X)
        >>> told.values.shape
        (200, 20)
        >>> bool(np.allclose(told.scores, model.decision_function(X), atol=1e-12))
        True
        """
        from boostlab.explain.shapley import contributions  # not needed to train

        return contributions(self, X, background)

    def explain(self, row: Any, background: Any = None) -> Any:
        """Say why one row has its score: in words (print it) and as a picture (`.plot()`, a waterfall).

        Parameters
        ----------
        row : array-like of shape (n_features,) or (1, n_features), or a mapping from names to values
            The row; a line of a frame (`frame.iloc[[3]]`) keeps its categories.
        background : array-like, optional
            As for `contributions`.

        Returns
        -------
        boostlab.explain.Explanation
        """
        from boostlab.explain.words import explain

        return explain(self, row, background)

    def rules(self, most: int | None = None) -> Any:
        """Return the voters as rules that a person reads, with their coefficients: print it, or take its `frame`.

        Parameters
        ----------
        most : int, optional
            How many, the first rounds first; None is all.

        Returns
        -------
        boostlab.explain.Rules

        Examples
        --------
        >>> from sklearn.datasets import load_iris
        >>> from boostlab import AdaBoostClassifier
        >>> X, y = load_iris(return_X_y=True, as_frame=True)
        >>> print(AdaBoostClassifier(n_estimators=2).fit(X[50:], y[50:] == 2).rules())
        round  weight  rule
            1   1.376  petal width (cm) > 1.65 → +1, else -1
            2   1.019  petal length (cm) ≤ 4.85 → -1, else +1
        """
        from boostlab.explain.rules import rules

        return rules(self, most)

    def to_shap(self) -> dict[str, Any]:
        """Return the vote as `shap.TreeExplainer` takes it: a description of trees.

        Returns
        -------
        dict
            For ``shap.TreeExplainer(model.to_shap())``.  Its rows are numbers (see
            ``model.contributions(X).data``: categories are 0, 1, ..., missing values NaN), its values those of
            `contributions`.
        """
        from boostlab.explain.shap_adapter import to_shap

        return to_shap(self)

    def export(self, path: str | os.PathLike[str], **options: Any) -> None:
        """Write the model in a form that runs without boostlab: ONNX, C, SQL, JSON or a scorecard.

        Parameters
        ----------
        path : str or path
            Where to; its ending says the form: .onnx, .c, .sql, .json, or .md for a scorecard.
        **options
            Of the form: `int16` and `name` (C), `double` (ONNX), `table` (SQL), `points` (scorecard).  See
            docs/export.md.
        """
        from boostlab.model_io.exports import export

        export(self, path, **options)
