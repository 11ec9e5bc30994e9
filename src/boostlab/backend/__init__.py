"""Where rows live: one folder a backend."""
