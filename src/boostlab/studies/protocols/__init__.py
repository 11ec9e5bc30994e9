"""How a cell is computed: the papers' protocols."""
