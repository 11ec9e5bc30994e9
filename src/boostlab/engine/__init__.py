"""The loop that every booster shares, what it keeps, and who looks on."""
