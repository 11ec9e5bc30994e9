"""Comparing algorithms: over splits of one data set, and over many data sets.  Errors go in, and lower is better."""

from boostlab.studies.statistics.bayes import Posterior, bayesian_signed_rank, correlated_t
from boostlab.studies.statistics.paired import Marks, PairedT, mark_best, paired_t_test
from boostlab.studies.statistics.poisson_binomial import (
    chance_of_lower_risk,
    discordant,
    poisson_binomial,
    poisson_binomial_test,
)
from boostlab.studies.statistics.power import detectable, most_lost
from boostlab.studies.statistics.ranks import Friedman, alike, average_ranks, friedman, nemenyi
from boostlab.studies.statistics.signed_ranks import Shift, SignedRank, hodges_lehmann, holm, wilcoxon
from boostlab.studies.statistics.signs import SignTest, sign_test

__all__ = [
    "Friedman",
    "Marks",
    "PairedT",
    "Posterior",
    "Shift",
    "SignTest",
    "SignedRank",
    "alike",
    "average_ranks",
    "bayesian_signed_rank",
    "chance_of_lower_risk",
    "correlated_t",
    "detectable",
    "discordant",
    "friedman",
    "hodges_lehmann",
    "holm",
    "mark_best",
    "most_lost",
    "nemenyi",
    "paired_t_test",
    "poisson_binomial",
    "poisson_binomial_test",
    "sign_test",
    "wilcoxon",
]
