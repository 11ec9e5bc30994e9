"""What a worker holds: parts, by the fit they belong to, and how far each has come.

Orders are numbered.  A part that has carried out more than a call begins with skips those; one that is behind, or not
there, says so, and is made anew elsewhere from its rows and all orders so far.  So a call that comes twice, late or to
another worker does no harm.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from threading import RLock
from typing import Any

from boostlab.backend.partitioned.part import Answer, Call, Part, merged

HELD: dict[tuple[str, int], Held] = {}  # by fit and number of the part
LOCK = RLock()


@dataclass
class Held:
    """A part, and how many orders it has carried out."""

    part: Part
    done: int
    lock: Any


@dataclass
class Reply:
    """What a worker answers for some parts."""

    answer: Answer | None  # None if a part is missing
    missing: list[int]
    worker: str


def hold(fit: str, number: int, part: Part, orders: Sequence[Call]) -> str:
    """Keep a part, after all orders so far; return where it is."""
    for order in orders:
        part.obey(order)
    with LOCK:
        HELD[fit, number] = Held(part, len(orders), RLock())
    return _address()


def call(fit: str, numbers: Sequence[int], first: int, orders: Sequence[Call], question: Call) -> Reply:
    """Let parts carry out orders (the first has the number `first`) and answer a question."""
    with LOCK:
        mine = {n: HELD.get((fit, n)) for n in numbers}
    missing = [n for n, held in mine.items() if held is None or held.done < first]
    if missing:
        return Reply(None, missing, _address())
    answers = []
    for held in mine.values():
        assert held is not None
        with held.lock:
            for order in orders[held.done - first :]:
                held.part.obey(order)
                held.done += 1
            answers.append(held.part.answer(question))
    return Reply(merged(question[0], answers), [], _address())


def release(fit: str) -> None:
    """Forget a fit's parts."""
    with LOCK:
        for key in [key for key in HELD if key[0] == fit]:
            del HELD[key]


def merge_replies(question: str, replies: Sequence[Reply]) -> Reply:
    """Return one reply for several workers."""
    missing = [n for reply in replies for n in reply.missing]
    if missing:
        return Reply(None, missing, "")
    return Reply(merged(question, [r.answer for r in replies if r.answer is not None]), [], "")


def _address() -> str:
    from distributed import get_worker

    return str(get_worker().address)
