"""Three or more classes as binary problems: codes, decoders, and how a booster is trained on each of them."""
