"""Which cluster a fit runs on."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from boostlab.backend.dask.cluster import Cluster

_CLIENT: ContextVar[Any] = ContextVar("boostlab_dask_client", default=None)


@contextmanager
def using(client: Any) -> Iterator[None]:
    """Let fits inside this block run on a client's cluster.

    Parameters
    ----------
    client : distributed.Client

    Examples
    --------
    >>> import dask.array as da
    >>> from distributed import Client
    >>> from boostlab import AdaBoostClassifier, dask
    >>> from boostlab.datasets import twonorm
    >>> X, y = twonorm(100, random_state=0)
    >>> with Client(processes=False, n_workers=1, dashboard_address=None) as client, dask.using(client):
    ...     model = AdaBoostClassifier(n_estimators=3).fit(da.from_array(X, (50, 20)), da.from_array(y, 50))
    >>> model.n_estimators_
    3
    """
    token = _CLIENT.set(client)
    try:
        yield
    finally:
        _CLIENT.reset(token)


def chosen_client() -> Any:
    """Return the client that `using` names; None where Dask's current one is used."""
    return _CLIENT.get()


@contextmanager
def current_cluster() -> Iterator[Cluster]:
    """Give the cluster of the client in use, or of Dask's current one; leave it without tasks or memory."""
    client = _CLIENT.get()
    if client is None:
        try:
            from distributed import get_client
        except ImportError:
            raise ImportError("Dask collections need dask and distributed: pip install 'boostlab[dask]'.") from None
        try:
            client = get_client()
        except ValueError:
            raise ValueError(
                "X is a Dask collection and there is no Dask client; make one (client = distributed.Client()), or fit "
                "inside `with boostlab.dask.using(client)`."
            ) from None
    cluster = Cluster(client)
    cluster.check()
    with _out_of_the_way():
        try:
            yield cluster
        finally:
            cluster.close()


@contextmanager
def _out_of_the_way() -> Iterator[None]:
    """Let a worker take other tasks while one of its own waits for them."""
    from distributed import get_worker, rejoin, secede
    from distributed.threadpoolexecutor import thread_state

    try:
        get_worker()
        in_a_task = thread_state.proceed
    except (ValueError, AttributeError):
        in_a_task = False
    if not in_a_task:
        yield
        return
    secede()
    try:
        yield
    finally:
        rejoin()
