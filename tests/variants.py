"""Every booster, and the variants that go other ways through the engine."""

from __future__ import annotations

from functools import partial

import pytest

import boostlab
from boostlab import AdaBoostClassifier, QuadBoostClassifier, VoterPool
from boostlab.estimators import REGISTRY

BOOSTERS = [entry.cls for entry in REGISTRY.values()]
VARIANTS = [
    *BOOSTERS,
    partial(AdaBoostClassifier, algorithm="real"),
    partial(AdaBoostClassifier, resample=True),
    partial(boostlab.ARBoostClassifier, resample="systematic"),
    partial(QuadBoostClassifier, VoterPool()),
    partial(boostlab.ArcGVClassifier, target="smallest_edge"),
    partial(boostlab.ARBoostClassifier, VoterPool(), forbid_repeat_complement=True),
    partial(boostlab.L1BoostClassifier, penalty="additive"),
    partial(boostlab.SoftMarginBoostClassifier, power=2),
    partial(boostlab.WeightBoostClassifier, normalize=True),
    partial(QuadBoostClassifier, VoterPool(), mode="coordinate", regularizer="l1"),
    partial(boostlab.VadaBoostClassifier, variance_penalty="fixed_point"),
    partial(boostlab.FilterBoostClassifier, mode="oracle"),
    partial(boostlab.RobustBoostClassifier, clip=False),
    partial(boostlab.LogitBoostClassifier, safe=False),
    partial(boostlab.L2BoostClassifier, VoterPool()),
    partial(boostlab.LPBoostClassifier, C=0.05),
    partial(boostlab.SAMMEClassifier, form="textbook"),
    partial(boostlab.SoftMarginBoostClassifier, penalty="literal", C=0.01),
    partial(boostlab.AdaBoostMHClassifier, votes="free"),
    partial(boostlab.AdaBoostMHClassifier, votes="real"),
    partial(boostlab.AdaBoostMHClassifier, form="ovr"),
    partial(boostlab.AdaBoostMHClassifier, form="ovr", normalise="sum_alpha"),
]
IDS = [
    *REGISTRY,
    *("real", "resample", "systematic", "pool"),
    *("smallest_edge", "no_complements", "additive", "power2", "normalize"),
    *("coordinate", "fixed_point"),
    *("oracle", "smooth", "printed_logit", "least_squares_pool"),
    *("price", "textbook_samme", "literal_slack"),
    *("mh_free", "mh_real", "mh_ovr", "mh_sum_alpha"),
]
# Boosters whose coefficients are a program's, which may have several optima, and how closely their optima agree.
PROGRAMS = {
    "LPBoostClassifier": ({"nu": 0.3}, 1e-9),
    "ERLPBoostClassifier": ({"nu": 0.3}, 0.01),  # its tolerance
    "SoftBoostClassifier": ({"nu": 0.3}, 0.01),
    "TotalBoostClassifier": ({}, 0.01),
    "RLPBoostClassifier": ({"nu": 0.3}, 1e-8),
    "RQPBoostClassifier": ({}, 1e-7),
}
every = pytest.mark.parametrize("make", VARIANTS, ids=IDS)
