"""Rows in this process: Numba on plain threads."""
