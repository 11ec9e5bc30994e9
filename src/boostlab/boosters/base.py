"""The scikit-learn face that all boosters share."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import KW_ONLY, dataclass
from functools import cache, cached_property
from typing import Any, ClassVar, Self, cast

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.utils import check_random_state

from boostlab.backend import CpuRows, Masses
from boostlab.boosters.calibrating import Calibrating
from boostlab.boosters.constraining import INTERACTIONS, MONOTONE, Constraining
from boostlab.boosters.degenerate import Complaining
from boostlab.boosters.explaining import Explaining
from boostlab.boosters.params import Check, check_params, flag, number, one_of, param, scorer, whole
from boostlab.boosters.selection import MOST_ROUNDS, SelectionData
from boostlab.boosters.showing import Showing
from boostlab.boosters.shrinkage import Patient
from boostlab.boosters.sources import Given, lay, samples, selection_of, with_bins
from boostlab.boosters.targets import LabelTargets, NumberTargets, Targets
from boostlab.boosters.voting import Predicting
from boostlab.calibration.costs import is_cost
from boostlab.contract import Learner, Rule
from boostlab.data.binned import MAX_BINS, is_max_bins
from boostlab.data.sample import Sample, hold_out
from boostlab.data.table import Bins, Table
from boostlab.engine.measures import MEASURES, REGRESSION_MEASURES
from boostlab.engine.monitors import Callbacks, InformationCriterion, Validation
from boostlab.engine.training import Monitor, Training
from boostlab.ensemble.rounds import Round, history
from boostlab.ensemble.vote import Ensemble
from boostlab.learners import as_learner
from boostlab.reductions.training import reduce
from boostlab.solvers.allowance import FitTime

Array = npt.NDArray[Any]

_CALLABLES = Check(
    lambda v: v is None or callable(v) or (isinstance(v, Sequence) and all(map(callable, v))),
    "a callable or a list of callables",
)
_SCORING = scorer(("auto", *MEASURES), "'auto', 'error', 'exponential', 'log_loss', 'scaled_log_loss'")
_COST = Check(is_cost, "a mapping from (true label, predicted label) to a number, or a matrix")
_MAPPING = Check(lambda v: isinstance(v, Mapping), "a mapping from labels to weights")
_FREE = ("n_estimators", "callbacks", "verbose", "n_jobs", "warm_start")  # may change between warm starts
_REGRESSION_SCORING = scorer(REGRESSION_MEASURES, "'squared_error', 'absolute_error'")


@dataclass
class _Warm:
    """What a warm start must find unchanged, and the seed it must use again."""

    data: tuple[int, int | None]
    settings: dict[str, str]
    seed: int | None = None


@dataclass(eq=False, repr=False)
class Booster(Patient, Complaining, Explaining, Constraining, Targets, Showing, BaseEstimator):
    """What classifiers and regressors share: from `fit` to a fitted vote."""

    estimator: Any = param(None)
    _: KW_ONLY
    max_depth: int | None = param(None, one_of(None) | whole(1))
    max_leaf_nodes: int | None = param(None, one_of(None) | whole(2))
    n_estimators: int = param(100, whole(1))
    resample: bool | str = param(False, flag() | one_of("systematic"))
    max_restarts: int = param(10, whole(0))
    max_bins: int | str = param(255, Check(is_max_bins, MAX_BINS))
    categorical_features: Any = param("from_dtype")
    monotone: Any = param(None, MONOTONE)
    interactions: Any = param(None, INTERACTIONS)
    shapes: str | None = param(None, one_of(None, "isotonic"))
    min_category_size: int = param(1, whole(1))
    early_stopping: bool | str = param(False, flag() | one_of("aic", "bic"))
    validation_fraction: float = param(0.1, number(0, 1, "()"))
    n_iter_no_change: int | None = param(None, one_of(None) | whole(1))
    tol: float = param(0.0, number(0))
    keep_best: bool = param(True, flag())
    warm_start: bool = param(False, flag())
    callbacks: Any = param(None, _CALLABLES)
    verbose: int = param(0, whole(0) | flag())
    n_jobs: int | None = param(None, one_of(None) | whole(1) | whole(-64, -1))
    random_state: Any = param(None)

    _settles: ClassVar[tuple[str, ...]] = ()  # what `_settle` may return
    _trial_rounds: ClassVar[int] = MOST_ROUNDS  # of the trials by which `_settle` decides
    _tol_is_the_rules: ClassVar[bool] = False  # whether `tol` belongs to the rule rather than to early stopping
    _time = cast("FitTime | None", None)  # of the fit at work; without an annotation, which would make it a parameter
    _smaller_side = cast("float | None", None)  # its share of the weight, in a binary problem of a reduction

    @classmethod
    @cache
    def _get_param_names(cls) -> list[str]:
        """Return the names of the parameters, which scikit-learn reads from the signature whenever it copies."""
        return super()._get_param_names()

    def _rule(self) -> Rule:
        """Return the rule these parameters make."""
        raise NotImplementedError

    def _possible_rule(self) -> Rule:
        """Return the rule, after checking every parameter by itself."""
        check_params(self)
        return self._rule()

    def _settle(self, bench: SelectionData) -> dict[str, Any]:
        """Return what the data decide: a number for every parameter that is a word, and how it was found."""
        return {}

    def _number(self, name: str, meanwhile: float) -> float:
        """Return a parameter, or what the data decided where it is a word (before they did: a stand-in)."""
        value = getattr(self, name)
        settled: dict[str, Any] = getattr(self, "_settled", {})
        return float(settled.get(name, meanwhile) if isinstance(value, str) else value)

    @property
    def _n_trainings(self) -> int:
        """The number of trainings of one fit, which share its time."""
        return 1

    # -- fit -----------------------------------------------------------------------------------------

    def fit(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        *,
        X_val: Any = None,
        y_val: Any = None,
        sample_weight_val: Any = None,
    ) -> Self:
        """Train on a table.

        Parameters
        ----------
        X : array, frame, sparse matrix, Binned or Dask collection of shape (n_rows, n_features)
            Numbers, NaN for missing values; columns of text or categories in a pandas or polars frame.  A Dask array or
            frame is trained on where it is (see docs/scale.md).
        y : array-like of shape (n_rows,)
            Class labels of any kind, or the numbers to predict for a regressor.
        sample_weight : array-like of shape (n_rows,), optional
            Not negative; weight k equals k copies of a row.
        X_val, y_val, sample_weight_val : optional
            A validation set to follow, and to stop by if `early_stopping` is on.

        Returns
        -------
        self
        """
        check_params(self)
        before = dict(self.__dict__)
        if getattr(self, "time_limit", None) is not None:
            self._time = FitTime(self.time_limit, self._n_trainings)
        try:
            with samples(self, Given(X, y, sample_weight, X_val, y_val, sample_weight_val)) as given:
                sample, held_out, calibrated = given
                del given
                self._check_constraints(len(sample.classes))
                reduction = self._reduction(len(sample.classes))
                if reduction is None:
                    training = self._opened(sample, held_out)
                    del sample, held_out  # where rows are held out, the training holds what it needs of them
                    self._run(training)
                else:
                    reduce(self, reduction, sample, held_out)
                if calibrated is not None:
                    self._calibrate(*calibrated)
            self.__dict__.pop("_time", None)
        except BaseException:  # a fit that fails leaves the model of the last one
            self.__dict__.clear()
            self.__dict__.update(before)
            raise
        return self

    def _for_calibration(self, sample: Sample, X: Any, y: Any, weight: Any) -> tuple[Sample, Masses] | None:
        """Return what it takes to calibrate, if that is asked for."""
        return None

    def _calibrate(self, sample: Sample, rows: Masses) -> None:
        """Make probabilities of scores."""

    def _opened(self, sample: Sample, held_out: Sample | None) -> Training:
        """Return the training to run: that of the last fit if this one goes on with it, else a new one."""
        training = self._resumed(sample, held_out) if self._goes_on(sample, held_out) else None
        return self._begin(sample, held_out) if training is None else training

    def _learner(self) -> Learner:
        return self._learner_for(self._rule())

    def _learner_for(self, rule: Rule) -> Learner:
        learner = as_learner(self.estimator, rule, type(self).__name__, self.max_depth, self.max_leaf_nodes)
        return self._constrained(learner, rule)

    def _binned_table(self, sample: Sample, threads: int, part: Sample | None = None) -> Table:
        """Return the sample, or a part of it, with the sample's bins, which it may have already."""
        n_categories: dict[int, int] = {} if self._columns is None else self._columns.n_categories
        cut = sample.X, sample.rows, self.max_bins, threads, n_categories
        if part is None or part.X is sample.X:
            return Table.fit(*cut) if sample.table is None else sample.table.again(threads)
        return part.coded(Bins.fit(*cut) if sample.table is None else sample.table.bins, threads)

    def _with_bins(self, sample: Any, held_out: Any) -> tuple[Any, Any]:
        """Return the samples with bins, unless they have some."""
        return with_bins(self, sample, held_out)

    def _begin(self, sample: Sample, held_out: Sample | None) -> Training:
        """Set up a new training: bins, rule, learner, and what to watch."""
        rng, given = np.random.default_rng(self._seed()), sample
        holds_out = bool(self.early_stopping) and not isinstance(self.early_stopping, str)
        if holds_out and held_out is None:
            sample, held_out = hold_out(sample, self.validation_fraction, rng)
        sample, held_out = self._take(sample, held_out)  # first: the rule may depend on the number of classes
        self._settled: dict[str, Any] = {}
        learner = self._learner()
        laid = lay(self, given, sample, held_out, learner)
        self._bins = laid.bins
        chance = rng.spawn(1)[0]  # whatever it takes to settle a parameter, the training draws the same
        self._settled = self._settle(selection_of(self, laid, learner, chance))
        rule = self._rule()
        rows, watched, sample, held_out = laid.rows(rule)
        training = Training(
            rule,
            learner,
            rows,
            horizon=self.n_estimators,
            resample=self.resample,
            max_restarts=self.max_restarts,
            rng=rng,
            watched=watched,
            spent=self._spent(),
        )
        tol = 0.0 if self._tol_is_the_rules else self.tol
        if isinstance(self.early_stopping, str):
            stops = InformationCriterion(self.early_stopping, self._numeric, self._patience, tol)
            training.monitors.append(stops)
        if held_out is not None:
            patience = self._patience if holds_out else None
            training.monitors.append(self._watch(sample, held_out, patience, tol))
        return training

    def _spent(self) -> float:
        """Return how much of `time_limit` the next training cannot have: the rest of the fit has it."""
        if self._time is None:
            return 0.0
        return float(self.time_limit) - self._time.share()

    def _run(self, training: Training) -> None:
        """Run the training and keep what a fitted model needs."""
        monitors: list[Monitor] = []
        if self.callbacks is not None:
            monitors.append(Callbacks([self.callbacks] if callable(self.callbacks) else self.callbacks))
        with ExitStack() as stack:
            if self.verbose:
                progress = stack.enter_context(self._progress())
                monitors.append(progress)
            stop = training.run(self.n_estimators, monitors)
            if self.verbose:
                progress.show(training)
        best = None
        if self.early_stopping and self.keep_best:
            kind = InformationCriterion if isinstance(self.early_stopping, str) else Validation
            best = min(m.best_round for m in training.monitors if isinstance(m, kind))
        trained = training.finished(best or None)  # 0: Ctrl-C came before the first score
        rounds = self._shaped(trained, None if self.shapes is None else training.rows.slots)
        if self.warm_start:
            self._training = training
        else:
            self.__dict__.pop("_training", None)
        told = history(trained + training.state.rounds[len(trained) :] + rounds[training.state.t :])
        self._conclude(training.rule, rounds, told, str(training.last or stop))
        self._complain(self._complaint(training) if rounds else self._empty)
        self._remember(training.rows)

    def _conclude(self, rule: Rule, rounds: Sequence[Round], history: dict[str, Any], stop: str) -> None:
        """Keep what was trained."""
        self._keep(Ensemble(rule, rounds, self._n_classes), history, stop)
        self.feature_importances_ = self._ensemble.importances(self.n_features_in_)

    @cached_property
    def estimators_(self) -> list[Any]:
        """The voters, which are made when one looks at them; a model of several binary problems sets its boosters."""
        return self._ensemble.voters

    def _keep(self, ensemble: Ensemble, history: dict[str, Any], stop_reason: str) -> None:
        """Take a vote, trained or loaded, as the model's own."""
        self._forget()
        self.__dict__.pop("_calibration", None)
        self._ensemble = ensemble
        self.history_ = history
        self.stop_reason_ = stop_reason
        self.n_estimators_ = len(ensemble)
        self.__dict__.pop("estimators_", None)
        self.estimator_weights_ = ensemble.alphas

    # -- warm start ----------------------------------------------------------------------------------

    def _seed(self) -> int:
        """Return the seed of this fit; a warm start that has to begin anew uses the same one again."""
        warm: _Warm | None = getattr(self, "_warm", None)
        if warm is not None and warm.seed is not None:
            return warm.seed
        seed = int(check_random_state(self.random_state).randint(2**31))
        if warm is not None:
            warm.seed = seed
        return seed

    def _goes_on(self, sample: Sample, held_out: Sample | None) -> bool:
        """Return whether this fit goes on with the last one, whose data and settings must then be the same."""
        if not self.warm_start:
            self.__dict__.pop("_warm", None)
            return False
        settings = {k: repr(v) for k, v in self.get_params().items() if k not in _FREE}
        now = _Warm((sample.fingerprint(), None if held_out is None else held_out.fingerprint()), settings)
        if not hasattr(self, "_warm"):
            self._warm = now
            return False
        changed = [k for k, v in settings.items() if self._warm.settings.get(k) != v]
        if self._warm.data != now.data or changed:
            what = f"the parameter {changed[0]}" if changed else "the data"
            raise ValueError(
                f"warm_start goes on with the last fit, but {what} changed since; set warm_start=False to start anew, "
                "or fit a clone."
            )
        return True

    def _resumed(self, sample: Sample, held_out: Sample | None) -> Training | None:
        """Return the training to go on with; None starts anew, which gives the same model, only later."""
        training: Training | None = getattr(self, "_training", None)
        if training is None or training.torn or training.rule != self._rule():  # a rule may plan for n_estimators
            return None
        if self.n_estimators < training.state.t:
            raise ValueError(
                f"n_estimators={self.n_estimators} is below the {training.state.t} rounds already trained; "
                "with warm_start it may only grow."
            )
        training.state.horizon = self.n_estimators
        assert isinstance(training.rows, CpuRows)
        training.rows.table.moved_to(sample.X)
        if training.watched is not None:
            training.watched.table.moved_to(sample.X if held_out is None else held_out.X)
        return training

    def __getstate__(self) -> dict[str, Any]:
        """Leave the live training behind: a copy that warm-starts trains from the beginning, to the same model.

        Training rows that are kept for explanations do not leave this process either: counts take their place.
        """
        self._settle_shares()
        state: dict[str, Any] = dict(super().__getstate__())
        for alive in ("_training", "_bins", "_forest", "_reference"):
            state.pop(alive, None)
        return state

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the fitted model to a file that `boostlab.load` reads, in any process and on any platform.

        Parameters
        ----------
        path : str or path
            Where to; an older file there is replaced once the new one is complete.
        """
        from boostlab.model_io import save  # not needed to train

        save(self, path)

    def __sklearn_tags__(self) -> Any:
        """Say what scikit-learn should know."""
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.sparse = True
        return tags


@dataclass(eq=False, repr=False)
class BoostingClassifier(Calibrating, LabelTargets, ClassifierMixin, Booster):
    """Everything about a classifier but its rule.  A subclass adds its parameters and says which rule they make."""

    _: KW_ONLY
    scoring: Any = param("auto", _SCORING)
    class_weight: Any = param(None, one_of(None, "balanced") | _MAPPING)
    multiclass: str = param("auto", one_of("auto", "ovr", "ovo", "ecoc"))
    calibrate: str | None = param(None, one_of(None, "sigmoid", "isotonic", "venn-abers"))
    cost: Any = param(None, _COST)


@dataclass(eq=False, repr=False)
class BoostingRegressor(Predicting, NumberTargets, RegressorMixin, Booster):
    """Everything about a regressor but its rule.  A subclass adds its parameters and says which rule they make."""

    _: KW_ONLY
    scoring: Any = param("squared_error", _REGRESSION_SCORING)
