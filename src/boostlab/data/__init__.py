"""Turning what people have into binned columns, and sums over their rows."""
