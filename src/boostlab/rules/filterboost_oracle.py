"""FilterBoost proper: every voter is learnt from examples that a filter lets through (Bradley & Schapire 2008)."""

from __future__ import annotations

from dataclasses import dataclass
from math import atanh, ceil, log

from boostlab.contract import Array, Retry, State, Step, Stop, Task
from boostlab.programs.filtering import Calls, Edge, sequential_edge
from boostlab.rules.filterboost import FilterBoost


@dataclass(frozen=True)
class FilterBoostOracle(FilterBoost):
    """Examples come one by one from an oracle, and the filter accepts each with chance q = 1 / (1 + exp(y F)).

    1. In round t = 1, 2, ...: delta_t = delta / (3 t (t + 1)); the filter gives m_t = m ln(t + 2) examples.  Its r-th
       call ends everything, with an error of at most eps, if it accepts none of (2 / eps) ln(r (r + 1) / delta_t).
    2. h = the best voter on these examples, unweighted.
    3. g = the edge of h by a sequential test on further filtered examples; drop h if it has none.
    4. alpha = (1/2) ln((1/2 + g) / (1/2 - g)); F += alpha h.

    Here the oracle draws rows of the sample, with replacement.  How many the filter turns away, and whether h is right
    on an accepted one, depend on the sample only through the mean of q and the weighted error of h; so they are drawn
    from these two numbers, and no row need be looked at.
    """

    delta: float = 0.1
    tau: float = 0.5
    m: int = 300
    n_max: int = 100_000

    def begin(self, s: State) -> None:
        """No call has been made."""
        s.own.round, s.own.drawn = -1, 0

    def calls(self, t: int) -> Calls:
        """Step 1, for the round after t rounds."""
        return Calls(self.target_error, self.delta / (3 * (t + 1) * (t + 2)), ceil(self.m * log(t + 3)))

    def task(self, s: State) -> Task | Stop:
        """Steps 1 and 2."""
        own, q = s.own, self.weights(s.y * s.F)
        if own.round != s.t:  # else the round is asked again, and its calls go on
            own.round, own.calls = s.t, self.calls(s.t)
        own.rate = max(s.total(q) / s.n, 1e-15)
        if not self.accepted(s, own.calls.m):
            return self.ended(own.calls)
        return Task("edge", q, s.y, draw=own.calls.m)

    def accepted(self, s: State, n: int) -> bool:
        """Call the filter n times; whether it accepted an example every time."""
        return s.own.calls.made(s.rng.geometric(s.own.rate, n))

    def step(self, s: State, task: Task, h: Array) -> Step | Retry | Stop:
        """Steps 3 and 4."""
        whole, wrong = s.total(task.weight, task.weight * (h != s.y))

        def right(n: int) -> Array | None:
            return s.rng.random(n) >= wrong / whole if self.accepted(s, n) else None

        answer = self.judged(sequential_edge(right, s.own.calls.delta, self.tau, self.n_max), s.own.calls)
        if isinstance(answer, Step):
            loss = float(s.total(self.phi(s.y * (s.F + answer.alpha * h))) / s.n)
            answer.facts = {"error": wrong / whole, **answer.facts, "objective": loss}
        return answer

    def judged(self, found: Edge | None, calls: Calls) -> Step | Retry | Stop:
        """Step 4, given what the test found."""
        if found is None:
            return self.ended(calls)
        if found.g <= 0:
            return Retry(f"no edge was found in {found.n} filtered examples")
        g = min(found.g, 0.5 - 0.5 / found.n)
        return Step(atanh(2 * g), {"edge": 2 * g, "tested": float(found.n), "drawn": float(calls.drawn)})

    def ended(self, calls: Calls) -> Stop:
        """Step 1's end."""
        return Stop("tolerance", f"none of {calls.limit} examples in a row was accepted: the error is at most "
                    f"{self.target_error:g}, with confidence {1 - self.delta:g}")  # fmt: skip
