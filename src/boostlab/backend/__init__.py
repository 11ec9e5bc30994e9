"""Where rows live: `functions` holds the row functions (exp, log, erf and their kin), one source for every backend."""
