"""Artificial data sets whose definitions are known, and label noise for any data set."""

from boostlab.datasets.gaussian import chi2_spheres, ringnorm, three_gaussians, twonorm
from boostlab.datasets.noise import flip_labels
from boostlab.datasets.votes import long_servedio, xor
from boostlab.datasets.waveform import waveform

__all__ = [
    "chi2_spheres",
    "flip_labels",
    "long_servedio",
    "ringnorm",
    "three_gaussians",
    "twonorm",
    "waveform",
    "xor",
]
