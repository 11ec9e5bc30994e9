"""Named data sets, artificial ones whose definitions are known, and label noise for any of them."""

from boostlab.datasets.catalogue import DatasetError, Facts, facts, names
from boostlab.datasets.dataset import Dataset, content_hash
from boostlab.datasets.finding import FoundFile, cache_folder, data_folder, load, where
from boostlab.datasets.gaussian import chi2_spheres, ringnorm, three_gaussians, twonorm
from boostlab.datasets.noise import flip_by_class, flip_by_margin, flip_labels
from boostlab.datasets.votes import long_servedio, xor
from boostlab.datasets.waveform import waveform

Found = FoundFile  # its first name

__all__ = [
    "Dataset",
    "DatasetError",
    "Facts",
    "Found",
    "FoundFile",
    "cache_folder",
    "chi2_spheres",
    "content_hash",
    "data_folder",
    "facts",
    "flip_by_class",
    "flip_by_margin",
    "flip_labels",
    "load",
    "long_servedio",
    "names",
    "ringnorm",
    "three_gaussians",
    "twonorm",
    "waveform",
    "where",
    "xor",
]
