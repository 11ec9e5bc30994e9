"""Rows in several parts, each of which may lie in another process: integers travel, rows do not."""
