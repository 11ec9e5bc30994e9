"""The papers' studies: their problems, protocols, published tables, and pages that compare (`boostlab reproduce`)."""
