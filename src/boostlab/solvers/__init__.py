"""The linear, quadratic and entropic programs that corrective rules solve."""
