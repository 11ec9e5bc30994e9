"""How the cells of the studies are computed, one file a protocol or a few that belong together."""
