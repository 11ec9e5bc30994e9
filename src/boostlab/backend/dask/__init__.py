"""Rows on the workers of a Dask cluster: parts that take orders and answer questions, and come back if one is lost."""
