"""One file per algorithm; each reads like its paper and knows nothing of features, bins or threads."""
