"""What a study is asked for: refusals in one sentence, and the number of workers."""

from __future__ import annotations


class RequestError(ValueError):
    """What was asked for is not possible; the message is one sentence for the person who asked.

    Examples
    --------
    >>> import boostlab
    >>> from boostlab.datasets import twonorm
    >>> X, y = twonorm(100, random_state=0)
    >>> try:
    ...     boostlab.compare(X, y, boosters=["Unknown"])
    ... except boostlab.studies.RequestError as error:
    ...     print(error)
    There is no booster 'Unknown'; choose from AdaBoost, ...
    """


def check_jobs(jobs: int | None) -> None:
    """Raise one sentence for a number of workers that is not possible.

    Parameters
    ----------
    jobs : int, optional
        Number of workers; a negative one counts from all cores, as joblib has it.

    Examples
    --------
    >>> check_jobs(0)
    Traceback (most recent call last):
    ...
    boostlab.studies.request.RequestError: jobs=0 is not possible; name the number of workers, or -1 ...
    """
    if jobs == 0:
        raise RequestError("jobs=0 is not possible; name the number of workers, or -1 for one on every core.")
