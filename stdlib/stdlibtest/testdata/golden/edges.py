#!/usr/bin/env python3
"""Writes edges.txt: calls at edges, with values and derivatives in high precision (mpmath):
Dirichlet-multinomial masses, trigamma near its poles and far left, and log-binomial coefficients
beyond 1e300.

    /usr/bin/python3 edges.py

A line is a call, its value and its derivatives by the real arguments, separated by tabs."""
import os
from mpmath import mp, mpf, loggamma, psi, inf
import main

mp.dps = 60


def dirichlet_multinomial(counts, alphas):
    """The log mass and its derivatives by alpha."""
    n, a0 = sum(counts), sum(map(mpf, alphas))
    if n == 0:
        return [mpf(0)] + [mpf(0)] * len(alphas)
    value = loggamma(a0) + loggamma(n + 1) - loggamma(n + a0)
    slope = psi(0, a0) - psi(0, n + a0)
    slopes = []
    for c, a in zip(counts, map(mpf, alphas)):
        value += loggamma(c + a) - loggamma(a) - loggamma(c + 1)
        slopes.append(slope + psi(0, c + a) - psi(0, a))
    return [value] + slopes


def line(call, numbers): return "\t".join([call] + [main.number(x) for x in numbers]) + "\n"


if __name__ == "__main__":
    out = ["# Written by edges.py: call, value, derivatives. Do not edit.\n"]
    for counts, alphas in [
        ([3], [2.5]), ([0], [1e-3]), ([0, 0], [2.0, 3.0]), ([1, 0], [1e-30, 1.0]), ([0, 1], [1e-30, 1.0]), ([2, 3, 5], [0.3, 1.2, 4.0]), ([2, 0, 0], [1e-8, 1e-8, 1e-8]),
        ([1000000, 2, 3], [0.5, 1e6, 2.0]), ([2147483647, 0], [3.0, 1e-5]), ([7, 3], [1e15, 1e15]), ([5, 5], [1e9, 2e9]),
        ([100, 200, 300], [1e-10, 1e10, 1.0]), ([1, 1, 1, 1], [0.25, 0.25, 0.25, 0.25]), ([1000000, 1000000], [1e6, 1e6]),
    ]:
        call = "dirichlet_multinomial_lpmf({%s}| [%s]')" % (", ".join(map(str, counts)), ", ".join(map(repr, alphas)))
        out.append(line(call, dirichlet_multinomial(counts, alphas)))
    for x in [-17000.5, -17001.25, -17000.0 + 2.0**-30, -17001.0 - 2.0**-38, -3.0 + 2.0**-40, -3.0 - 2.0**-50,
              -1.0 + 1e-8, 1e-8, -1e-8, -100.0 + 1e-9, -99.0 - 1e-9, -101.0 + 1e-9, -100.5, 1e8]:
        out.append(line("trigamma(%r)" % x, [psi(1, mpf(x)), psi(2, mpf(x))]))
    for x, y in [(1e305, 3e304), (1.5e308, 1e307), (2e305, 1.9e305)]:
        x_, y_ = mpf(x), mpf(y)
        out.append(line("lchoose(%r, %r)" % (x, y), [loggamma(x_ + 1) - loggamma(y_ + 1) - loggamma(x_ - y_ + 1), psi(0, x_ + 1) - psi(0, x_ - y_ + 1), psi(0, x_ - y_ + 1) - psi(0, y_ + 1)]))
    for x, n in [(1e300, 1e299), (3e302, 1e302), (1e302, 3e304), (2.0, 1e305)]:
        x_, n_ = mpf(x), mpf(n)
        out.append(line("log_rising_factorial(%r, %r)" % (x, n), [loggamma(x_ + n_) - loggamma(x_), psi(0, x_ + n_) - psi(0, x_), psi(0, x_ + n_)]))
    with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "edges.txt"), "w") as f:
        f.writelines(out)
