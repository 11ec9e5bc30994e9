"""The closing sentences: who won, and whether that means anything."""

import pytest

from boostlab.studies import Cell, Comparison, verdict


def comparison(noise=0.0, **errors):
    cells = [
        Cell(f"{name}Classifier", noise, 0, fold, error)
        for name, row in errors.items()
        for fold, error in enumerate(row)
    ]
    return Comparison([f"{name}Classifier" for name in errors], [noise], folds=2, repeats=1, cells=cells)


@pytest.mark.parametrize(
    ("errors", "expected"),
    [
        (
            {"B": (0.3, 0.3), "A": (0.10, 0.14), "C": (0.13, 0.14)},
            "On clean labels A had the lowest error, 12.00 %; C is within one standard error (2.00 points) of it, "
            "so the difference may be chance.",
        ),
        (
            {"B": (0.3, 0.3), "A": (0.10, 0.14)},
            "On clean labels A had the lowest error, 12.00 %; the next, B at 30.00 %, is more than one standard error "
            "(2.00 points) behind.",
        ),
        (
            {"A": (0.1, 0.2), "B": (0.2, 0.1), "C": (0.5, 0.5)},
            "On clean labels A and B shared the lowest error, 15.00 %; the next, C at 50.00 %, is more than one "
            "standard error (5.00 points) behind.",
        ),
        ({"A": (0.1, 0.2), "B": (0.2, 0.1)}, "On clean labels A and B shared the lowest error, 15.00 %."),
        ({"A": (0.1, 0.2)}, "On clean labels A had an error of 15.00 %; nothing to compare it with."),
        (
            {"A": (0.1,), "B": (0.2,)},
            "On clean labels A had the lowest error, 10.00 %; one fit each does not say how much of that is chance.",
        ),
        ({"A": (), "B": ()}, "On clean labels no booster finished."),
    ],
)
def test_sentence(errors, expected):
    assert verdict(comparison(**errors)) == [expected]


def test_many_rivals_are_counted():
    rivals = dict.fromkeys("BCDEF", (0.1, 0.15))
    (sentence,) = verdict(comparison(A=(0.10, 0.14), **rivals))
    assert "B, C, D and 2 others are within one standard error" in sentence


def test_noise_is_named():
    (sentence,) = verdict(comparison(noise=0.125, A=(0.1, 0.1), B=(0.2, 0.2)))
    assert sentence.startswith("With 12.5 % of the training labels flipped A had")
