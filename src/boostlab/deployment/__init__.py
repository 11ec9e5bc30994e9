"""What stays after a comparison: fit one model to a table, predict new tables with it, and say what it is."""
