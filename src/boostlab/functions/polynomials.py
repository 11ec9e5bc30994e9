"""Minimax polynomials of the row functions, fitted and written by benchmarks/fit_functions.py."""

# Long rows of digits are what is wanted here.

from __future__ import annotations


def exp_rest(r: float) -> float:
    """Return (exp(r) - 1 - r) / r^2, on [-0.346608, 0.346608]; error 2^-57.94."""
    square = r * r
    odd = 0.16666666666666413 + square * (
        0.008333333333494045
        + square * (0.00019841269507497135 + square * (2.7557585558961194e-06 + square * 2.5000315205753763e-08))
    )
    even = 0.041666666666530135 + square * (
        0.0013888888943635437 + square * (2.480149309325772e-05 + square * 2.763025045606736e-07)
    )
    return 0.5000000000000011 + r * (odd + r * even)


def log_rest(z: float) -> float:
    """Return (log((1 + s) / (1 - s)) - 2 s) / s^3 with z = s^2, on [0.0, 0.0294431]; error 2^-56.62."""
    square = z * z
    odd = 0.39999999999898384 + square * (0.22222211068328085 + square * 0.15331585960092398)
    even = 0.285714286264267 + square * (0.1818289354886713 + square * 0.14618008831373527)
    return 0.666666666666667 + z * (odd + z * even)


def erf_rest(z: float) -> float:
    """Return erf(x) / x - 1 with z = x^2, on [0.0, 0.563]; error 2^-60.09."""
    square = z * z
    odd = -0.37612638903183715 + square * (
        -0.026866170644431985
        + square * (-0.0008548326190858428 + square * (-1.4924197838837216e-05 + square * -1.5940186876554249e-07))
    )
    even = 0.11283791670952613 + square * (
        0.00522397761545656
        + square * (0.00012055289640578579 + square * (1.6430702932225407e-06 + square * 1.1472795669785033e-08))
    )
    return 0.1283791670955126 + z * (odd + z * even)


def erfcx_rest(t: float) -> float:
    """Return (x + 1/2) erfcx(x) - 39/64 with t = (x - 4.5) / (x + 3), on [-1.0001, 1.0]; error 2^-58.89."""
    square = t * t
    odd = -0.05696129160643243 + square * (
        0.014826840755765586
        + square
        * (
            0.006978309455499759
            + square
            * (
                0.00046058802380463367
                + square
                * (
                    -4.889296728900035e-05
                    + square
                    * (
                        3.4227502189223034e-06
                        + square
                        * (
                            -2.3331251455873105e-07
                            + square
                            * (
                                1.930056979504554e-08
                                + square
                                * (
                                    -2.377932564867146e-09
                                    + square * (3.5356693379001395e-10 + square * -3.4594441793252305e-11)
                                )
                            )
                        )
                    )
                )
            )
        )
    )
    even = 0.0020842513878967972 + square * (
        -0.013176936616319019
        + square
        * (
            -0.0024451566636304635
            + square
            * (
                3.8304618237927674e-05
                + square
                * (
                    7.479650318283805e-06
                    + square
                    * (
                        -1.292186467073783e-06
                        + square
                        * (
                            1.716213892066611e-07
                            + square
                            * (
                                -2.266755926802363e-08
                                + square
                                * (
                                    3.0308366182306186e-09
                                    + square * (-3.6445308710875455e-10 + square * 2.7636635965733307e-11)
                                )
                            )
                        )
                    )
                )
            )
        )
    )
    return 0.0030490213692070884 + t * (odd + t * even)


def erfinv_ratio(z: float) -> float:
    """Return erfinv(x) / x with z = x^2, on [0.0, 0.514859]; error 2^-23.84."""
    square = z * z
    odd = 0.23202914536182123 + square * (
        0.09498023221647107 + square * (0.26418303769260115 + square * 0.36715581742894343)
    )
    even = 0.1269684678278396 + square * (0.006607689920513665 + square * -0.3582245502013047)
    return 0.8862268587462646 + z * (odd + z * even)


def erfcinv_gap(t: float) -> float:
    """Return w - erfcinv(exp(-w^2)) with t = (w - 3) / (w + 3), on [-0.463415, 0.802046]; error 2^-21.62."""
    square = t * t
    odd = -0.25051029332782904 + square * (
        0.1260554265043942
        + square * (0.15652140695453456 + square * (0.040356212166145974 + square * -0.028990568656645267))
    )
    even = -0.054605904077993456 + square * (
        -0.173915094529858
        + square * (-0.12128321796251669 + square * (0.02768869836618623 + square * -0.0019413286072816277))
    )
    return 0.2852390215633878 + t * (odd + t * even)
