"""What a worker holds: parts, by the fit they belong to, and how far each has come.

Orders are numbered.  A part that has carried out more than a call begins with skips those; one that is behind, or not
there, says so, and is made anew from its rows and all orders so far.  So a call that comes twice, late or to another
worker does no harm.  A part lives as long as its lease, which is the result of the task that made it: when the client
lets go of that, or goes away, the scheduler drops the lease and the worker forgets the part.
"""

from __future__ import annotations

import asyncio
import weakref
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from threading import RLock
from typing import Any

from boostlab.backend.partitioned.answers import Answer, Call, Name, merged
from boostlab.backend.partitioned.part import Part

FAN = 8  # workers that one asks in a reduction tree
THREADS = 4  # calls at a time: several fits may share a worker

HELD: dict[str, Held] = {}  # by name: every making of a part has its own, so that an older one is not in the way
LOCK = RLock()
POOL = ThreadPoolExecutor(THREADS, thread_name_prefix="boostlab")

Group = list[tuple[str, dict[int, str]]]  # workers, and the parts that each answers for: numbers and names


@dataclass
class Held:
    """A part, and how many orders it has carried out."""

    part: Part
    done: int
    lock: Any


class Lease:
    """What a client keeps to keep a part: when the last copy on a worker goes, so does the part."""

    def __init__(self, name: str) -> None:
        self.name = name
        self._end = weakref.finalize(self, _forget, name)

    def __reduce__(self) -> Any:
        """Travel as plain text: a copy elsewhere holds nothing, and one that is spilled to disk lets nothing go."""
        self._end.detach()
        return str, (self.name,)


@dataclass
class Reply:
    """What workers answer for some parts."""

    answer: Answer | None  # None if a part is missing or a part failed
    missing: list[int]
    error: Exception | None = None


def hold(name: str, make: Callable[..., Part], block: Any, orders: Sequence[Call]) -> Lease:
    """Make a part of its rows, and keep it after all orders so far."""
    from distributed import get_worker

    part = make(block, threads=int(get_worker().state.nthreads))
    for order in orders:
        part.obey(order)
    with LOCK:
        HELD[name] = Held(part, len(orders), RLock())
    return Lease(name)


async def call(groups: Sequence[Group], first: int, orders: Sequence[Call], question: Call, dask_worker: Any) -> Reply:
    """Let parts carry out orders (the first has the number `first`) and answer a question.

    The worker answers for its own parts and for the rest of the group that it heads, which it asks in turn.
    """
    group = next(g for g in groups if g[0][0] == dask_worker.address)
    below = in_groups(group[1:])
    others = [_ask(dask_worker, g, below, first, orders, question) for g in below]
    loop = asyncio.get_running_loop()
    mine = loop.run_in_executor(POOL, answer, group[0][1], first, orders, question)
    return merge_replies(question[0], await asyncio.gather(mine, *others))


async def _ask(worker: Any, group: Group, groups: Sequence[Group], *rest: Any) -> Reply:
    from distributed.protocol.pickle import dumps

    try:
        reply = await worker.rpc(group[0][0]).run(
            function=dumps(call), args=dumps((groups, *rest)), kwargs=dumps({}), wait=True
        )
    except (OSError, TimeoutError):
        return Reply(None, numbers_of(group))
    return reply["result"] if reply["status"] == "OK" else Reply(None, numbers_of(group))


def answer(names: Mapping[int, str], first: int, orders: Sequence[Call], question: Call) -> Reply:
    """Answer for the parts that are here."""
    with LOCK:
        mine = {n: HELD.get(name) for n, name in names.items()}
    missing = [n for n, held in mine.items() if held is None or held.done < first]
    if missing:
        return Reply(None, missing)
    answers = []
    try:
        for held in mine.values():
            assert held is not None
            with held.lock:
                for order in orders[held.done - first :]:
                    held.part.obey(order)
                    held.done += 1
                answers.append(held.part.answer(question))
    except MemoryError:
        for name in names.values():
            _forget(name)
        return Reply(None, list(names))
    except Exception as error:
        return Reply(None, [], error)
    return Reply(merged(question[0], answers), [])


def merge_replies(question: Name, replies: Sequence[Reply]) -> Reply:
    """Return one reply for several."""
    error = next((r.error for r in replies if r.error is not None), None)
    missing = [n for reply in replies for n in reply.missing]
    if error is not None or missing:
        return Reply(None, missing, error)
    return Reply(merged(question, [r.answer for r in replies if r.answer is not None]), [])


def in_groups(workers: Group, fan: int = FAN) -> list[Group]:
    """Return the workers in at most `fan` groups, of which the first of each asks the others."""
    size = -(-len(workers) // fan)
    return [workers[i : i + size] for i in range(0, len(workers), size)] if workers else []


def numbers_of(group: Group) -> list[int]:
    """Return the parts of a group."""
    return [n for _, names in group for n in names]


def _forget(name: str) -> None:
    with LOCK:
        HELD.pop(name, None)
