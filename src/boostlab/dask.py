"""Training on Dask collections: which cluster to use.

`fit` takes Dask arrays and frames and runs on the current `distributed.Client`; `using` names another one.
"""

from boostlab.data.dask.clients import using

__all__ = ["using"]
