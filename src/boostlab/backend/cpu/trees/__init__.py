"""Compiled growth of trees: strategies that the memory of one process allows."""
