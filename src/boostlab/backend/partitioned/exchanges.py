"""Orders and questions on their way to the parts: what is waiting, what is supposed, and what is asked with it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from boostlab.backend.partitioned.answers import Answer, Call, apart
from boostlab.backend.partitioned.column import as_sent
from boostlab.backend.partitioned.part import Part
from boostlab.backend.partitioned.whole import Parts

ONCE = {"keep", "advance", "scale_side", "renew_weights"}  # orders that may not be carried out twice


@dataclass
class Supposition:
    """Something that is likely, and that the next exchange confirms or mends.

    Parameters
    ----------
    question : Call
        Decides whether it is so; its columns stay until it is answered.
    mend : callable
        Returns, given the answer, the orders that make up for a supposition that is not so; none if it is.
    at : int
        How many of the waiting orders came before it.
    """

    question: Call
    mend: Callable[[Answer], Sequence[Call]]
    at: int


class Exchanges:
    """Collects orders until there is a question, and sends them together.

    An exchange costs milliseconds, so a question whose answer is likely is not asked at once: the orders that follow
    from the likely answer are given, and the question goes with the next one.  If the answer is another, orders that
    mend it are sent, those after it again, and the next question is asked again: one exchange, which was saved before.

    Parameters
    ----------
    parts : Parts
        Hold the rows.
    none : Part
        A part without rows: it tells what a column is like before the others make it.
    """

    def __init__(self, parts: Parts, none: Part) -> None:
        self.parts, self.none = parts, none
        self.waiting: list[Call] = []  # orders that the parts have not heard of yet
        self.supposed: list[Supposition] = []
        self.gone: list[int] = []  # columns to forget

    def order(self, operation: str, *args: Any) -> Any:
        """Let the parts do something before the next question; return what it makes, as the part without rows says."""
        if self.supposed and operation in ONCE:
            self.ask([])
        order = shown(operation, args)
        self.waiting.append(order)
        return self.none.obey(order)

    def suppose(self, question: Call, mend: Callable[[Answer], Sequence[Call]]) -> None:
        """Ask a question with the next one; until then, the orders to come suppose an answer."""
        self.supposed.append(Supposition(question, mend, len(self.waiting)))

    def ask(self, questions: Sequence[Call]) -> list[Answer]:
        """Return the answers to several questions, by one exchange; columns that nothing refers to are dropped."""
        if self.gone and not self.supposed:  # orders that may be repeated still look at them
            self.gone, gone = [], self.gone
            self.order("drop", gone)
        orders, self.waiting = self.waiting, []
        supposed, self.supposed = self.supposed, []
        while True:
            asked = [*questions, *(s.question for s in supposed)]
            answers = self._exchange(orders, asked)
            for i, (one, answer) in enumerate(zip(supposed, answers[len(questions) :], strict=True)):
                mends = [shown(name, args) for name, args in one.mend(answer)]
                if mends:
                    after, supposed = orders[one.at :], supposed[i + 1 :]
                    for later in supposed:
                        later.at += len(mends) - one.at
                    orders = [*mends, *after]
                    break
            else:
                return answers[: len(questions)]

    def _exchange(self, orders: Sequence[Call], questions: Sequence[Call]) -> list[Answer]:
        names, args = zip(*(shown(*question) for question in questions), strict=True)
        return apart(names, self.parts.ask(orders, (names, args)))


def shown(name: str, args: Sequence[Any]) -> Call:
    """Return an order or a question as it travels."""
    return name, tuple(as_sent(a) for a in args)
