"""Studies on a Dask cluster: joblib hands the cells to its workers."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import joblib

from boostlab.studies.request import RequestError

PATIENCE = 10  # seconds to connect, and to see a worker


@contextmanager
def on_cluster(address: str, folder: Path) -> Iterator[int]:
    """Let runs inside this block compute their cells on a cluster; give its number of threads.

    Parameters
    ----------
    address : str
        Of the scheduler: tcp://host:port.
    folder : path
        Where the store is: every worker writes finished cells there, so all of them must see it.
    """
    try:
        from distributed import Client
    except ImportError:
        raise RequestError("--dask needs dask and distributed: pip install 'boostlab[dask]'.") from None
    try:
        client = Client(address, timeout=PATIENCE, set_as_default=False)
    except (OSError, ValueError, TimeoutError):
        raise RequestError(
            f"No Dask scheduler answers at {address}; start one (dask scheduler), or check it."
        ) from None
    with client:
        try:
            client.wait_for_workers(1, timeout=PATIENCE)
        except TimeoutError:
            raise RequestError(f"The Dask cluster at {address} has no worker; start some (dask worker).") from None
        _check_folder(client, folder)
        with joblib.parallel_config("dask", client=client, wait_for_workers_timeout=PATIENCE):
            yield sum(client.nthreads().values())


def _check_folder(client: Any, folder: Path) -> None:
    """Refuse workers that do not see the folder of the store."""
    sign = folder / ".boostlab-cluster"
    sign.touch()
    try:
        seen = client.run(_sees, str(sign), on_error="return")
    finally:
        sign.unlink()
    blind = [address for address, answer in sorted(seen.items()) if answer is not True]
    if blind:
        why = "" if seen[blind[0]] is False else f" ({type(seen[blind[0]]).__name__})"
        raise RequestError(
            f"The Dask worker {blind[0]} does not see {folder}{why}, where finished cells are kept; name a --store on "
            "a disk that all workers share, and let them have boostlab."
        )


def _sees(path: str) -> bool:
    from pathlib import Path as Here

    return Here(path).exists()
