"""The 18 problems of the VadaBoost paper and the EBBoost slides."""

from __future__ import annotations

from dataclasses import replace

from boostlab_reproductions.problems.problem import PaperProblem

_MNIST = "Digits {} and {} of MNIST, the first 2,500 of each in the training file: 5,000 examples, the paper's limit."


def _digits(minus: int, plus: int) -> PaperProblem:
    return PaperProblem(
        f"mnist{minus}{plus}",
        "mnist_10k",
        also=("mnist_extra_15k",),
        positive=(plus,),
        negative=(minus,),
        cap=5000,
        reading=_MNIST.format(minus, plus),
    )


VADABOOST: tuple[PaperProblem, ...] = (
    PaperProblem("a5a", "a5a", reading="LIBSVM's a5a, the training file: 123 columns of 0 and 1."),
    PaperProblem(
        "abalone",
        "abalone",
        encoding="one-hot",
        at_least=10,
        reading="At least 10 rings against fewer; the sex as three columns of 0 and 1.",
    ),
    PaperProblem(
        "image", "image_ida", reading="The image set of the Rätsch benchmark, which is UCI segmentation made binary."
    ),
    PaperProblem(
        "mushrooms",
        "mushrooms",
        missing="category",
        encoding="one-hot",
        positive=("p",),
        reading="LIBSVM's mushrooms: the 22 columns one-hot, a missing stalk root a value of its own: 112 columns.",
    ),
    PaperProblem(
        "musk",
        "musk2",
        cap=5000,
        reading="Musk version 2 (the slides call it musklarge); 5,000 of 6,598 examples, drawn once for all repeats.",
    ),
    *(_digits(*pair) for pair in ((0, 9), (1, 4), (2, 7), (3, 8), (5, 6))),
    PaperProblem("ringnorm", "ringnorm", reading="All 7,400 examples; the paper's level of error needs far fewer."),
    PaperProblem("spambase", "spambase", reading="As it is."),
    PaperProblem(
        "splice",
        "splice_ida",
        reading="The splice set of the Rätsch benchmark: junctions of both kinds against none, bases as whole numbers.",
    ),
    PaperProblem("twonorm", "twonorm", reading="All 7,400 examples."),
    PaperProblem(
        "w4a (surrogate)",
        "w4a_surrogate",
        exact=False,
        printed_as="w4a",
        reading="Not w4a, which was not to be had: as many rows, drawn from w8a, of which w4a is a part too.",
    ),
    PaperProblem(
        "waveform", "waveform_ida", reading="The waveform set of the Rätsch benchmark: class 2 against the others."
    ),
    PaperProblem(
        "wine",
        "wine_quality",
        keep=(("color", "white"),),
        drop=("color",),
        at_least=6,
        reading="White wine of a quality of at least 6 against the rest; the set of 178 rows cannot have such errors.",
    ),
    PaperProblem(
        "wisc",
        "breast_w",
        missing="complete",
        reading="The 683 complete cases of the original Wisconsin breast cancer set.",
    ),
)
"""The paper's 18 data sets, in the order of its tables."""

_SLIDES = {"musk": "musklarge"} | {f"mnist{pair}": f"nist{pair}" for pair in ("09", "14", "27", "38", "56")}

EBBOOST: tuple[PaperProblem, ...] = tuple(replace(p, printed_as=_SLIDES.get(p.name, p.printed_as)) for p in VADABOOST)
"""The same under the names of the EBBoost slides."""

RINGNORM_SMALL = PaperProblem(
    "ringnorm (400)",
    "ringnorm",
    cap=400,
    printed_as="ringnorm",
    reading="400 examples, with which errors and their spread come near the paper's.",
)
"""A second reading of ringnorm, to be run beside the first."""

RINGNORM_DRAWS: tuple[PaperProblem, ...] = tuple(
    replace(RINGNORM_SMALL, name=f"ringnorm (400), draw {seed + 1}", cap_seed=seed, reading="") for seed in range(1, 11)
)
"""Ten more draws of 400 examples: what the first of them has to do with the errors."""
