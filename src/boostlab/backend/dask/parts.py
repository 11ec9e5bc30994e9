"""The parts of a fit on a cluster: who holds which, and what is done when one is lost."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Sequence
from typing import Any

from boostlab.backend.dask import worker
from boostlab.backend.dask.cluster import MORE_MEMORY, TRIES, Cluster
from boostlab.backend.partitioned.answers import Answer, Call
from boostlab.backend.partitioned.part import Part


class DaskParts:
    """Parts on the workers of a cluster (see `partitioned.whole.Parts`).

    A part is a pure function of its block of rows and of all orders so far: on whatever worker it is made, it has the
    same bits.  Blocks are futures, which the scheduler computes anew from the collection when they are lost.

    Parameters
    ----------
    cluster : Cluster
        Where.
    blocks : list of futures
        The rows of every part, in one copy.
    make : callable
        Makes a part: make(block, threads=...).
    """

    def __init__(self, cluster: Cluster, blocks: Sequence[Any], make: Callable[..., Part]) -> None:
        self.cluster, self.blocks, self.make = cluster, blocks, make
        self.log: list[Call] = []  # all orders so far
        self.leases: dict[int, Any] = {}
        self.homes: dict[int, str] = {}
        self.asked = self.restored = 0
        self._restore(range(len(blocks)))

    def ask(self, orders: Sequence[Call], question: Call) -> Answer:
        """Let every part carry out the orders, one after the other, and answer the question; merge the answers."""
        first = len(self.log)
        self.log += orders
        self.asked += 1
        for _ in range(TRIES):
            reply = self._reply(first, orders, question)
            if reply.error is not None:
                raise reply.error
            if reply.answer is not None:
                return reply.answer
            self.restored += len(reply.missing)
            self._restore(reply.missing)
        raise RuntimeError(f"Partitions {sorted(reply.missing)} were lost {TRIES} times in one round; {MORE_MEMORY}.")

    def _reply(self, first: int, orders: Sequence[Call], question: Call) -> worker.Reply:
        by_home: dict[str, dict[int, str]] = {}
        for number, home in sorted(self.homes.items()):
            by_home.setdefault(home, {})[number] = self.leases[number].key
        groups = worker.in_groups([*by_home.items()], self.cluster.fan(worker.FAN))
        below = {g[0][0]: [w for w, _ in g] for g in groups}
        found = self.cluster.run(worker.call, groups, first, list(orders), question, groups=below)
        replies = [found[g[0][0]] or worker.Reply(None, worker.numbers_of(g)) for g in groups]
        return worker.merge_replies(question[0], replies)

    def _restore(self, numbers: Sequence[int]) -> None:
        """Make parts, anew if they were lost, with all orders so far."""
        left = list(numbers)
        for _ in range(TRIES):
            for n in left:
                if n in self.leases:
                    self.leases.pop(n).release()
            made = self.cluster.results(self._submit, left, "Partition")
            self.leases |= dict(zip(left, made, strict=True))
            homes = dict(zip(left, self.cluster.homes(made), strict=True))
            self.homes |= {n: home for n, home in homes.items() if home}
            left = [n for n, home in homes.items() if not home]
            if not left:
                return
        raise RuntimeError(f"Partitions {left} were lost {TRIES} times while they were made; {MORE_MEMORY}.")

    def _submit(self, numbers: Sequence[int]) -> list[Any]:
        return [self._held(number) for number in numbers]

    def _held(self, number: int) -> Any:
        if self.blocks[number].status == "error":  # workers died while it was computed anew
            self.blocks[number].retry()
        key = f"boostlab-part-{number}-{uuid.uuid4().hex}"
        args = key, self.make, self.blocks[number], list(self.log)
        return self.cluster.client.submit(worker.hold, *args, key=key, pure=False)

    def close(self) -> None:
        """Let go of the leases: the workers forget the parts."""
        for lease in self.leases.values():
            lease.release()
        self.leases, self.homes = {}, {}
