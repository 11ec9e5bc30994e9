"""A person's table: read from a file, understood column by column, and turned into numbers by a recipe."""
