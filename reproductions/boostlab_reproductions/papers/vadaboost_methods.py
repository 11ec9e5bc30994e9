"""The methods, the data and the readings that the studies of the VadaBoost paper and the EBBoost slides share."""

from __future__ import annotations

from boostlab.studies.plan import Method
from boostlab_reproductions.problems import RINGNORM_SMALL, VADABOOST

PAPER = "Shivaswamy & Jebara, Variance Penalizing AdaBoost, NIPS 2011"
LAMBDAS = tuple(k / 10 for k in range(11))
BEYOND = (2.0, 5.0, 10.0)
RATES = (1.0, 0.8, 0.6, 0.5, 0.4, 0.3, 0.2, 0.15, 0.1, 0.07, 0.05)
MORE_RATES = (0.9, 0.7, 0.25)  # as many as EBBoost has values of λ beyond VadaBoost's
FEW_LAMBDAS, FEW_RATES = (0.0, 0.3, 0.7, 1.0), (1.0, 0.5, 0.2, 0.05)  # where time is short
NUS = (0.8, 0.6, 0.5, 0.4, 0.3, 0.2, 0.15, 0.1, 0.05, 0.02, 0.01)
PRICES = tuple(10.0 ** (k / 2) for k in range(-6, 7))


def rate_of(n: int) -> str:
    """Return what the control is called that chooses among so many learning rates."""
    return f"AdaBoost, rate of {n}"


def best_of(n: int) -> str:
    """Return what the control is called that chooses among so many runs from different start weights."""
    return f"AdaBoost, best of {n}"


def controls(rates: tuple[float, ...]) -> tuple[Method, Method]:
    """Return the controls that choose among as many runs of AdaBoost as there are rates."""
    n = len(rates)
    return (
        Method(rate_of(n), "AdaBoostClassifier", grid={"learning_rate": rates}),
        Method(best_of(n), "AdaBoostClassifier", grid={"run": tuple(range(n))}, how="jitter"),
    )


ADABOOST = Method("AdaBoost", "AdaBoostClassifier")
EBBOOST = Method("EBBoost", "EBBoostClassifier", grid={"variance_penalty": LAMBDAS + BEYOND})
VADA = Method("VadaBoost", "VadaBoostClassifier", grid={"variance_penalty": LAMBDAS})
VADA_OF_FEW = Method("VadaBoost", "VadaBoostClassifier", grid={"variance_penalty": FEW_LAMBDAS})
RLP = Method("RLP-Boost", "RLPBoostClassifier", grid={"nu": NUS}, how="reweigh", after="AdaBoostClassifier")
RQP = Method("RQP-Boost", "RQPBoostClassifier", grid={"C": PRICES}, how="reweigh", after="AdaBoostClassifier")
PATIENT = "AdaBoost, patience 500"

PROBLEMS = (*VADABOOST, RINGNORM_SMALL)
STAND_INS = tuple(problem.name for problem in PROBLEMS if not problem.exact)
COUNTED = tuple(problem.name for problem in VADABOOST)  # the second reading of ringnorm is not in the paper's count
NAMES = {problem.name: problem.row for problem in PROBLEMS}
COLUMNS = ("AdaBoost", "EBBoost", "VadaBoost", "RLP-Boost", "RQP-Boost")

READINGS = (
    "Rows are split 50/25/25 at random, not by class, anew for every repeat; all methods see the same splits.",
    "The round with the first smallest validation error counts (the paper: upon termination).",
    "At most 5,000 rounds; a drop of the validation error is a strict decrease.",
    "λ is chosen among 0, 0.1, ..., 1, for EBBoost also 2, 5 and 10; of equals the smallest.",
    "RLP-Boost and RQP-Boost weigh all voters of AdaBoost's stopped run, those after its best round too; ν among 0.01 "
    "to 0.8, C among 13 values from 0.001 to 1000; of equals the largest ν and the smallest C. As they take long, they "
    "have 10 repeats in the full tier.",
    "w4a is a stand-in: as many rows of w8a. ringnorm is read twice, with all 7,400 rows and with 400; the paper's "
    "count of 18 sets has the first.",
    "A standard error printed as 0.0 is taken for 0.05. Fewer than five repeats of ours are given the printed standard "
    "error times √(50 / repeats).",
)

LAST_ROUND = "The table of readings has the errors of the last round beside those of the best."
CONTROLLED = (
    "The learning rate of the control is one of 11 values from 1 to 0.05, of equals the largest. The jittered runs "
    "start from weights 1 ± 10 percent, uniformly drawn; the first of them is AdaBoost's own, and of equals the first "
    "is taken."
)
CONTROLLED_MORE = (
    "The controls beside EBBoost, which has 14 values of λ, choose among these 11 and three more: the learning rates "
    "0.9, 0.7 and 0.25, which of equals come last, or three more jittered runs."
)
