"""Weak learners (trees so far; the others are in `voters`)."""
