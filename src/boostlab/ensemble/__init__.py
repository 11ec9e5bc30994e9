"""The fitted vote: scores, stages, margins, importances."""
