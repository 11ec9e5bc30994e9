"""The boosters: each is found by the name of its file, described where it is defined, and listed nowhere else.

A public class is in the file that is named after it: `boosters/logitboost.py` holds LogitBoostClassifier,
`boosters/l2boost.py` L2BoostClassifier and L2BoostRegressor (case and underscores do not count).  So one booster is
loaded without the others, and a list of all of them loads all.  Learners and kinds of voters are found in the files of
`learners/` by the decorators that register them, in the same way: read, not loaded.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, fields
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from inspect import cleandoc, signature
from pathlib import Path
from pkgutil import iter_modules
from typing import Any, Literal, TypeVar

T = TypeVar("T", bound=type)

PACKAGE = Path(__file__).parents[1]
SUBPACKAGES = ("boosters", "multiclass")  # whose files are named after the public classes in them
_CLASS = re.compile(r"^class (\w+)\(", re.MULTILINE)
_PUBLIC = re.compile(r"([A-Za-z]\w*)(Classifier|Regressor)")
_LEARNER = re.compile(r"^@stored_learner\nclass (\w+)\(", re.MULTILINE)
_VOTERS = re.compile(r'^@voter_kind\("(\w+)"\)$', re.MULTILINE)


@dataclass(frozen=True)
class Entry:
    """One booster: its class and what the lists say of it.

    Parameters
    ----------
    cls : type
        The estimator.
    reference : str
        Authors and year.
    choose : str
        When to choose it: the end of a sentence that begins with "Choose it when".
    family : str
        The page of the documentation that explains it, without its suffix.
    variants : mapping
        Names, and parameters by which the booster takes another way than by default; the tests try all of them.
    optimum : (parameters, tolerance), optional
        Where the coefficients are a program's, of whose optima there may be several: how closely two fits of the same
        sample agree on the program's value.
    grid : mapping
        What a comparison tries: a few values of the parameters that matter most; sizes of trees are tried besides.
    grid_of_large : mapping
        What it tries instead, of some of these parameters, on large tables of several classes.
    trees : bool
        Whether trees are tried in place of stumps.
    stronger : mapping
        Which values of its own parameters regularise more, "larger" or "smaller"; of `strength` this may be said for
        a regularizer by its name.
    """

    cls: type
    reference: str
    choose: str
    family: str = ""
    variants: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    optimum: tuple[Mapping[str, Any], float] | None = None
    grid: Mapping[str, tuple[Any, ...]] = field(default_factory=dict)
    grid_of_large: Mapping[str, tuple[Any, ...]] = field(default_factory=dict)
    trees: bool = True
    stronger: Mapping[str, Literal["larger", "smaller"]] = field(default_factory=dict)

    @property
    def parameters(self) -> dict[str, Any]:
        """Its own parameters, which not all boosters share, and their defaults."""
        return {p.name: p.default for p in signature(self.cls).parameters.values() if p.name not in SHARED_NAMES}

    @property
    def summary(self) -> str:
        """The first line of its documentation."""
        return (self.cls.__doc__ or "").partition("\n")[0]


REGISTRY: dict[str, Entry] = {}  # the classifiers that are loaded; `complete` loads all
REGRESSORS: dict[str, Entry] = {}


# -- discovery ---------------------------------------------------------------------------------------------------------


def _file_name(name: str) -> str | None:
    """Return the name of the file that a public class is in, without underscores."""
    match = _PUBLIC.fullmatch(name)
    return match[1].replace("_", "").lower() if match else None


@cache
def _modules() -> dict[str, str]:
    """Return the modules of the subpackages by their file names without underscores."""
    return {
        module.name.replace("_", ""): f"boostlab.{folder}.{module.name}"
        for folder in SUBPACKAGES
        for module in iter_modules([str(PACKAGE / folder)])
    }


def find(name: str) -> Any:
    """Return a public estimator of this package by its name, loading its file only; None if there is none.

    Parameters
    ----------
    name : str
        Such as "LogitBoostClassifier".
    """
    module = _modules().get(_file_name(name) or "")
    return None if module is None else getattr(import_module(module), name, None)


@cache
def public_names(folder: str) -> tuple[str, ...]:
    """Return the names of a subpackage's public estimators, read from its files without loading them.

    Parameters
    ----------
    folder : str
        "boosters" or "multiclass".
    """
    found = []
    for file_name, module in _modules().items():
        if module.split(".")[1] == folder:
            path = PACKAGE.joinpath(*module.split(".")[1:]).with_suffix(".py")
            classes = _CLASS.findall(path.read_text(encoding="utf-8"))
            found += [name for name in classes if _file_name(name) == file_name]
    return tuple(sorted(found, key=str.casefold))


def known(name: str) -> Any:
    """Return a booster by its name: one that is registered already, wherever it is defined, or one of this package.

    Parameters
    ----------
    name : str
        Such as "LogitBoostClassifier".
    """
    entry = entry_of(name)
    return None if entry is None else entry.cls


def entry_of(name: str) -> Entry | None:
    """Return what the lists say of a booster, given its name; None if there is none."""
    if name not in REGISTRY and name not in REGRESSORS:
        find(name)
    return REGISTRY.get(name) or REGRESSORS.get(name)


def complete() -> None:
    """Load all boosters, and put the lists in order: that in which they were loaded is a matter of chance."""
    for name in public_names("boosters"):
        find(name)
    for registry in (REGISTRY, REGRESSORS):
        entries = sorted(registry.items(), key=lambda item: item[0].casefold())
        registry.clear()
        registry.update(entries)


@cache
def _defined_in(file: Path) -> tuple[list[str], list[str]]:
    """Return the learners and the kinds of voters that a file registers."""
    text = file.read_text(encoding="utf-8")
    return _LEARNER.findall(text), _VOTERS.findall(text)


def _learner_files() -> Iterator[tuple[str, list[str], list[str]]]:
    """Yield the modules of `learners`, each with the learners and the kinds of voters that it registers."""
    spec = find_spec("boostlab.learners")
    for folder in () if spec is None else spec.submodule_search_locations or ():
        for file in sorted(Path(folder).rglob("*.py")):
            module = file.relative_to(folder).with_suffix("").as_posix().replace("/", ".")
            yield f"boostlab.learners.{module}", *_defined_in(file)


def learner_names() -> list[str]:
    """Return the names of this package's learners, read from their files without loading them."""
    return sorted(name for _, learners, _ in _learner_files() for name in learners)


def load_learner(name: str) -> Any:
    """Return a learner of this package by its name, loading its file; None if there is none.

    Parameters
    ----------
    name : str
        Such as "DecisionTree"; or a kind of voters, such as "category_stump", whose file is loaded alone.
    """
    for module, learners, voters in _learner_files():
        if name in learners or name in voters:
            return getattr(import_module(module), name, None)
    return None


# -- registration ------------------------------------------------------------------------------------------------------

SHARED_PARAMETERS = """
estimator : None, "stump", "tree", DecisionStump, DecisionTree, VoterPool or scikit-learn estimator, default=None
    The weak learner; None is the best stump of every round.
max_depth, max_leaf_nodes : int, optional
    Ask for a tree of this size as the weak learner, instead of `estimator`.
n_estimators : int, default={n_estimators}
    The largest number of rounds.
resample : bool or "systematic", default=False
    Train every voter on rows drawn in proportion to the weights (independently, or evenly spaced) instead of on
    weighted rows.
max_restarts : int, default=10
    How often a round may be asked again: where rows are drawn, when its voter is refused, and by LogitBoost the first
    time that clipping misleads it.
max_bins : int or "exact", default=255
    Bins a column: columns with more distinct values are cut at quantiles.  "exact" cuts between all distinct values
    (up to 65,535).
categorical_features : "from_dtype", None or list, default="from_dtype"
    Which columns hold categories: those of text or a categorical dtype in a pandas or polars frame; none; or a list of
    names, positions or truth values.
monotone : mapping, optional
    {{column: +1 or -1}}, columns by name or position: the score must not fall (+1), or not rise (-1), as the column's
    number rises, whatever the other columns hold.  Missing values are free.  For two classes and for numbers.
interactions : list of lists, "no_interactions" or "pairwise", optional
    Two columns may be on one path of a tree only if one of these groups has both; columns that no group lists are a
    group of their own (all as in scikit-learn).  A vote of stumps has no interactions.
shapes : None or "isotonic", default=None
    How stumps become `monotone`.  None: each keeps to its column's direction.  "isotonic": stumps are free, and at the
    end every such column's step function is replaced by the closest monotone one (least squares, by the training rows).
min_category_size : int, default=1
    Categories of fewer examples (sum of sample weights) are read as missing: a tree memorises rare ones.
early_stopping : bool, "aic" or "bic", default=False
    Stop when the score on held-out rows has not improved for `n_iter_no_change` rounds.  "aic" and "bic" hold out
    nothing: they stop by the training rows' deviance (of `predict_proba`, or of normal errors) plus 2, or ln n, for
    every coefficient that is not 0, which is in `history_` under their name.  Such formal criteria count neither the
    search for a voter nor how little a small step fits: with a small learning rate they stop early.
validation_fraction : float, default=0.1
    Share of the training rows to hold out, unless `fit` is given a validation set.
n_iter_no_change : int, optional
    Patience of early stopping, in rounds; None is 30, or 5 over the learning rate if that is more.
tol : float, default={tol}
    {tol_doc}
scoring : str or callable, default={scoring!r}
    What early stopping follows, and `train_score` and `validation_score` in `history_` hold: {measures}
    are better when smaller; or a scikit-learn scorer or its name (better when larger).
keep_best : bool, default=True
    After early stopping, keep the rounds up to the best validation score; False keeps all.
class_weight : None, "balanced" or mapping, default=None
    What to multiply the sample weights of every class by; "balanced" gives all classes the same mass.
multiclass : {{"auto", "ovr", "ovo", "ecoc"}}, default="auto"
    Three or more classes: the booster's own form if it has one, else one class against the rest ("ovr"); or all pairs
    ("ovo"), or an error-correcting code ("ecoc"), of binary problems that share the bins.
calibrate : None, "sigmoid", "isotonic" or "venn-abers", default=None
    Make probabilities of scores, by the scores of models of five folds that have not seen their rows (which takes five
    more fits, on the same bins).  `predict` then names the most probable class; stages are not calibrated.  With
    `cost`, None is "sigmoid".
cost : mapping or matrix, optional
    What a mistake costs: {{(true label, predicted label): cost}}, other mistakes costing 1; or a matrix with a line a
    true class.  `predict` then names the class with the smallest expected cost.
warm_start : bool, default=False
    Let the next `fit` on the same data go on from here: the result equals one long fit, bit for bit.
callbacks : callable or list of callables, optional
    Called as f(state) after every round; may return a `boostlab.Stop` to end training.
verbose : int, default=0
    1 shows a progress bar.
n_jobs : int, optional
    Number of threads; None is all cores, and more are not used.  The model does not depend on it.
random_state : int, RandomState or None, default=None
    Seed of everything random (re-sampling, hold-out, learners that draw).
"""

SHARED_NAMES = frozenset(
    name for line in re.findall(r"^(\S.*?) : ", SHARED_PARAMETERS, re.MULTILINE) for name in line.split(", ")
)

SHARED_ATTRIBUTES = """
Attributes
----------
{targets}
estimators_ : list
    The voters.{reduced}
estimator_weights_ : array
    Their coefficients.
n_estimators_ : int
    Number of rounds kept.
stop_reason_ : str
    Why training ended, as "code: detail".
history_ : dict of arrays
    One entry a round for alpha, error, objective, seconds, and scores where asked for.
feature_importances_ : array
    Every feature's share of the vote.
n_features_in_, feature_names_in_
    The columns seen by `fit`.
"""

_REDUCED = """  Where the classes were reduced to binary problems: a fitted booster for each (labels 0 and 1);
    `estimator_weights_` and `history_` are lists of theirs, and `n_estimators_` is the largest number of rounds."""
_MEASURES = """"error", "exponential", "log_loss",
    or "scaled_log_loss", that of the scores times the factor that makes it smallest ("auto" is "{smooth}" where
    training stops by it, and "error" where it only looks on), which"""
_CLASSES = "classes_ : array\n    The class labels in order."
_NUMBERS = "baseline_ : float\n    The mean of y, to which the vote is added."
_TOL = "By how much a validation score must improve to count; 0 is any improvement."


def booster(
    reference: str,
    choose: str,
    *,
    tol_doc: str = _TOL,
    **declared: Any,
) -> Callable[[T], T]:
    """Register a booster class and complete its docstring, in which {shared} stands for what all boosters share.

    Parameters
    ----------
    reference, choose
        As for `Entry`.
    tol_doc : str
        What the parameter `tol` means, where it is the rule's.
    **declared
        What else `Entry` holds: family, variants, optimum, grid, grid_of_large, trees, stronger.
    """

    def register(cls: T) -> T:
        own = cleandoc(cls.__doc__ or "")
        if "__dataclass_params__" not in vars(cls) or "{shared}" not in own:
            raise TypeError(
                f"{cls.__name__} must be a dataclass (@dataclass(eq=False, repr=False) below @booster) whose docstring "
                "has {shared} where the shared parameters go."
            )
        home = cls.__module__
        if home.startswith("boostlab.boosters.") and _modules().get(_file_name(cls.__name__) or "") != home:
            raise TypeError(f"{cls.__name__} belongs in a file of its own name, not in {home}; rename one of them.")
        parts = own.split("{shared}")
        cls.__doc__ = f"{parts[0]}{_shared(cls, tol_doc)}{parts[1]}"
        registry = REGRESSORS if cls._numeric else REGISTRY  # type: ignore[attr-defined]
        registry[cls.__name__] = Entry(cls, reference, choose, **declared)
        return cls

    return register


def _shared(cls: Any, tol_doc: str) -> str:
    """Return the documentation of the shared parameters that a booster has, and of the attributes."""
    have = {f.name for f in fields(cls)}
    entries = re.split(r"\n(?=\S)", SHARED_PARAMETERS.strip())
    kept = [entry for entry in entries if have & set(entry.split(" : ")[0].split(", "))]
    numeric = cls._numeric
    parameters = "\n".join(kept).format(
        n_estimators=cls.n_estimators,
        tol=cls.tol,
        tol_doc=tol_doc,
        scoring=cls.scoring,
        measures='"squared_error" or "absolute_error", which' if numeric else _MEASURES.format(smooth=cls._smooth),
    )
    targets, reduced = (_NUMBERS, "") if numeric else (_CLASSES, _REDUCED)
    attributes = SHARED_ATTRIBUTES.strip().format(targets=targets, reduced=reduced)
    return f"{parameters}\n\n{attributes}"
