"""A study on a person's own table: what it holds, who takes part, how it is cut, and what to make of the result."""
