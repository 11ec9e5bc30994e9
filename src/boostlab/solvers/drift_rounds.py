"""RobustBoost's usual round: the solver of `drifting` as decisions, each of which looks at sums over the rows.

Newton's method starts from the last round's solution, and its first look sees the curve up to there as well.  What is
seen is certain to be the first solution (see `Drift.is_first`), or the round is unusual.
"""

from __future__ import annotations

from math import inf

from boostlab.contract import AGAIN, OTHER, TAKEN, UNUSUAL, Facts, State, Sums, UsualRound, edge_sums, exp, formula
from boostlab.solvers.drift_bounds import MISSED, least_at, potentials_and_least_at, sums_and_bounds_at, sums_at
from boostlab.solvers.drift_steps import (
    BEGUN,
    CLOSE,
    MOST_LOOKS,
    SHORT,
    TUBE,
    adaboost_step,
    begun_until,
    is_around,
    middle_of,
    mu_at,
    newton_at,
    newton_step,
    next_piece,
    piece_between,
    sigma_at,
    stretch_between,
    time_at,
)
from boostlab.solvers.drifting import Process, log_weight

NO_EDGE = 1e-8
OVER = 1e-9  # so close to 1 the time is over

# What is summed: at first, by Newton's method afterwards, around the middle of the curve, and on a piece of it.
FIRST, LOOKS = sums_and_bounds_at, (sums_at, potentials_and_least_at, least_at)
AT_FIRST, NEWTON, AROUND, PIECE = 0, OTHER, OTHER + 1, OTHER + 2

# The numbers of a round, and their places: those that formulas take, what is known, and how far the solver is.
NUMBERS = (
    *("ds", "decay", "mu", "per", "speed", "widen", "sigma"),
    *("low", "high", "q_low", "q_high", "per_wide", "per_narrow"),
    *("middle", "decay_1", "mu_1", "per_1", "decay_2", "mu_2", "per_2"),
    *("begin", "time", "ds_per_edge", "dt_per_edge", "lead", "drift", "spread", "height", "target", "missed"),
    *("edge", "dt", "width", "looking", "evaluations", "at_ds", "at_dt", "below", "above", "least"),
    *("share", "wide", "unit", "floor"),
)
DS, DECAY, MU, PER, SPEED, WIDEN, SIGMA = range(7)
LOW, HIGH, Q_LOW, Q_HIGH, PER_WIDE, PER_NARROW = range(7, 13)
MIDDLE, DECAY_1, MU_1, PER_1, DECAY_2, MU_2, PER_2 = range(13, 20)
BEGIN, TIME, DS_PER_EDGE, DT_PER_EDGE, LEAD, DRIFT, SPREAD, HEIGHT, TARGET, MISS = range(20, 30)
EDGE, DT, WIDTH, LOOKING, EVALUATIONS, AT_DS, AT_DT, BELOW, ABOVE, LEAST = range(30, 40)
SHARE, WIDE = 40, 41


@formula
def look_by_newton(ds: float, dt: float, numbers: list[float]) -> bool:
    """Let Newton's method look at a point next; return whether it is one."""
    there = newton_at(numbers[TIME], ds, dt, numbers[LEAD], numbers[DRIFT], numbers[SPREAD])
    numbers[DECAY], numbers[MU], numbers[PER], numbers[SPEED], numbers[WIDEN], numbers[WIDTH] = there
    numbers[DS], numbers[DT] = ds, dt
    return numbers[WIDTH] > 0.0


@formula
def look_between(low: float, start: float, high: float, end: float, numbers: list[float]) -> None:
    """Look at the stretch of the curve between two points next."""
    there = stretch_between(numbers[TIME], low, start, high, end, numbers[SPREAD])
    numbers[LOW], numbers[HIGH], numbers[Q_LOW], numbers[Q_HIGH], numbers[PER_WIDE], numbers[PER_NARROW] = there


@formula
def look_along(numbers: list[float]) -> None:
    """Look at the middle of the curve to (ds, dt), and at its first stretch, next."""
    t, ds, dt, rest = numbers[TIME], numbers[DS], numbers[DT], 1.0 - numbers[TIME]
    before, after = middle_of(dt, rest)
    numbers[AT_DS], numbers[AT_DT], numbers[MIDDLE] = ds, dt, 0.5 * ds
    first = time_at(t, before, numbers[LEAD], numbers[DRIFT], numbers[SPREAD])
    second = time_at(t, after, numbers[LEAD], numbers[DRIFT], numbers[SPREAD])
    numbers[DECAY_1], numbers[MU_1], numbers[PER_1] = first
    numbers[DECAY_2], numbers[MU_2], numbers[PER_2] = second
    look_between(0.0, 0.0, BEGUN * ds, begun_until(dt, rest), numbers)


@formula
def begin_step(sums: Sums, numbers: list[float]) -> int:
    """Where step 3 begins: at the last round's solution, as it grows with the edge, or at AdaBoost's step."""
    edge, rest = sums[1] / sums[0], 1.0 - numbers[TIME]
    if edge <= NO_EDGE:
        return UNUSUAL
    numbers[EDGE], numbers[EVALUATIONS], numbers[BEGIN] = edge, 0.0, numbers[LEAD] * exp(rest)
    ds, dt, looking = numbers[DS_PER_EDGE] * edge, min(numbers[DT_PER_EDGE] * edge * edge, rest), AT_FIRST
    if ds <= 0.0:  # there is no last round
        ds, looking = adaboost_step(edge), NEWTON
        dt = min(ds * ds, rest)
    if (dt >= rest and looking == AT_FIRST) or not look_by_newton(ds, dt, numbers):
        return UNUSUAL
    numbers[LOOKING], numbers[AT_DS] = looking, inf
    if looking == NEWTON:
        return NEWTON
    look_along(numbers)
    return TAKEN


@formula
def end_step(after: Sums, numbers: list[float]) -> int:
    """Step 3: one look at a time."""
    looking, said = numbers[LOOKING], TAKEN
    numbers[EVALUATIONS] += 1.0
    if looking == PIECE:
        numbers[LEAST] = after[0]
    elif looking == AROUND:
        numbers[BELOW], numbers[ABOVE], numbers[LEAST] = after[0], after[1], after[2]
        said = is_around(numbers[BELOW], numbers[ABOVE], numbers[TARGET], numbers[MISS])
    else:
        if looking == AT_FIRST:
            numbers[BELOW], numbers[ABOVE], numbers[LEAST] = after[6], after[7], after[8]
        said = solve(after, numbers)
    if said == TAKEN:
        said = follow(looking == PIECE, numbers)
    if said < OTHER:
        return take(numbers) if said == TAKEN else UNUSUAL
    numbers[LOOKING] = said
    return said


@formula
def solve(after: Sums, numbers: list[float]) -> int:
    """Return what is to be looked at after Newton's step, or `TAKEN` if its solution is seen to be on the curve."""
    sums = after[0], after[1], after[2], after[3], after[4], after[5]
    here = numbers[DS], numbers[DT], numbers[WIDTH]
    said, ds, dt = newton_step(*here, numbers[HEIGHT], numbers[TARGET], *sums)
    if said == AGAIN:
        return NEWTON if numbers[EVALUATIONS] < MOST_LOOKS and look_by_newton(ds, dt, numbers) else UNUSUAL
    if said != TAKEN or not (ds > 0.0 and 0.0 < dt < 1.0 - numbers[TIME]):
        return UNUSUAL
    numbers[DS], numbers[DT] = ds, dt
    if abs(numbers[AT_DS] - ds) <= CLOSE * ds and abs(numbers[AT_DT] - dt) <= CLOSE * dt:
        numbers[EVALUATIONS] += 1.0
        around = is_around(numbers[BELOW], numbers[ABOVE], numbers[TARGET], numbers[MISS])
        if around == AGAIN:
            return UNUSUAL
        if around == TAKEN and numbers[LEAST] > 0.0:
            return TAKEN
    look_along(numbers)
    return AROUND


@formula
def follow(begun: bool, numbers: list[float]) -> int:
    """Return `TAKEN` if the edge is certain to be positive up to the solution, or that a piece is to be looked at."""
    ds, dt, short, said = numbers[DS], numbers[DT], SHORT * numbers[SIGMA], AGAIN
    if not begun:
        numbers[SHARE], numbers[WIDE] = BEGUN, TUBE * dt
        said = TAKEN if ds <= short else AGAIN
    if said == AGAIN:
        where = numbers[LOW], numbers[HIGH], numbers[SHARE], numbers[WIDE], numbers[LEAST]
        said, low, high, numbers[SHARE], numbers[WIDE] = next_piece(*where, ds, short)
        start, end = piece_between(low, high, numbers[WIDE], ds, dt, 1.0 - numbers[TIME])
        look_between(low, start, high, end, numbers)
    return PIECE if said == AGAIN else said


@formula
def take(numbers: list[float]) -> int:
    """Take the solution: step 4."""
    edge, ds, dt = numbers[EDGE], numbers[DS], numbers[DT]
    if numbers[TIME] + dt > 1.0 - OVER:
        return UNUSUAL
    numbers[DS_PER_EDGE], numbers[DT_PER_EDGE] = ds / edge, dt / (edge * edge)
    numbers[TIME] += dt
    numbers[DECAY], numbers[MU] = exp(-dt), mu_at(numbers[TIME], numbers[LEAD], numbers[DRIFT])
    numbers[SIGMA] = sigma_at(numbers[TIME], numbers[SPREAD])
    return TAKEN


def usual_round(s: State, process: Process) -> UsualRound:
    """Return the next round of a process."""
    t, (lead, drift, spread), (a, b) = s.own.time, process.moves, s.own.last or (0.0, 0.0)
    known = {"time": t, "mu": process.mu(t), "sigma": process.sigma(t), "ds_per_edge": a, "dt_per_edge": b}
    known |= {"lead": lead, "drift": drift, "spread": spread, "height": process.height, "floor": process.floor}
    known |= {"target": s.n * process.eps, "missed": MISSED * process.height * s.n, "unit": 1.0}

    def remembered(s: State, numbers: Sums, sums: Sums, after: Sums) -> Facts:
        s.own.time, s.own.last = numbers[TIME], (numbers[DS_PER_EDGE], numbers[DT_PER_EDGE])
        return facts(s, numbers[EDGE], numbers[EVALUATIONS], process.eps)

    return UsualRound(
        begin_step,
        dict.fromkeys(NUMBERS, 0.0) | known,
        edge_sums,
        remembered,
        log_weight,
        logarithms=True,
        after=FIRST,
        check=end_step,
        others=LOOKS,
        decay="decay",
    )


def facts(s: State, edge: float, looks: float, potential: float) -> Facts:
    """Return what is told of a round."""
    told = {"error": (1 - edge) / 2, "edge": edge, "time": s.own.time, "evaluations": looks}
    return {**told, "objective": potential}
