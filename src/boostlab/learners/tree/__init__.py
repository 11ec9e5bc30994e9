"""Decision trees: the learner, the strategies by which it grows, and what it grows."""
