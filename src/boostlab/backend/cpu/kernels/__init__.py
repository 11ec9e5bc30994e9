"""Compiled loops and nothing else: pure functions on arrays, each with a plain twin in the tests."""
