"""What boosters minimise, round by round."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from time import perf_counter
from typing import Any

import numpy as np

from boostlab.boosters import REGISTRY
from boostlab.boosters.staged_training import TrainTest, weak_learner
from boostlab.studies.plan import Definition, Method, Outcome, Procedure
from boostlab_reproductions.protocols.vadaboost import halves, seed_words


@dataclass(frozen=True)
class CostCurves(Procedure):
    """Train with stumps on half of the rows, and note the cost after every round.

    Costs are those of VadaBoost's (3), divided by n^2: AdaBoost's mean loss is squared.

    Parameters
    ----------
    rounds : int
        Number of rounds.
    """

    rounds: int = 500

    def definition(self) -> Definition:
        """Return all that may change a result."""
        return {"protocol": "costs of the training half", "version": 1, **asdict(self)}

    def split_seed(self, data_hash: str, repeat: int) -> tuple[int, ...]:
        """Return the words of the SeedSequence that draws the split."""
        return seed_words(data_hash, repeat, "split")

    def parts(self, data: Any, repeat: int) -> TrainTest:
        """Take the training half, and of the others one row to look at."""
        train, others, _ = halves(len(data.y), repeat, data.hash)
        return TrainTest.of(data.X, np.asarray(data.y) > 0, train, others[:1], "exact")

    def run(self, parts: TrainTest, method: Method) -> Outcome:
        """Train."""
        start = perf_counter()
        rule = REGISTRY[method.booster].cls(**method.params)._rule()
        staged = parts.training(rule, weak_learner("stump"), self.rounds)
        staged.go(self.rounds)
        power = 1.0 if "variance_penalty" in method.params else 2.0
        costs = np.array([1.0, *(r.facts["objective"] for r in staged.rounds)])
        numbers = {"n": parts.table.n_rows, "rounds": staged.t, "seconds": perf_counter() - start}
        return Outcome(numbers, {"log_cost": (power * np.log(costs)).astype(np.float32)})
