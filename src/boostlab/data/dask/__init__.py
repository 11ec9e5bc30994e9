"""Collections of Dask as samples: read where their partitions are, kept there as bin codes."""
