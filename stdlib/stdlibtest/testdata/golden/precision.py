#!/usr/bin/env python3
"""Writes precision.txt: derivatives of log masses and densities by parameters that are large, in
high precision (mpmath).

    /usr/bin/python3 precision.py

A line is: name, kinds of the arguments, arguments, value, derivatives by the real arguments."""
import os
import mpmath
from mpmath import mp, mpf
import main

mp.dps = 120


def row(name):
    return next((kinds, f, names.index(name)) for names, kinds, f, _ in main.table() if name in names)


def line(name, point):
    kinds, f, at = row(name)
    def value(args):
        v = f(*args)
        return v[at] if isinstance(v, (list, tuple)) else v
    args = [mpf(x) for x in point]
    numbers = [value(args)]
    for i, kind in enumerate(kinds):
        if kind == "r":
            h = abs(args[i]) * mpf(10) ** -40 if args[i] else mpf(10) ** -40
            up, down = list(args), list(args)
            up[i] += h
            down[i] -= h
            numbers.append((value(up) - value(down)) / (2 * h))
    return " ".join([name, kinds] + [main.number(x) for x in args + numbers])


def negative_binomial(y, mu, phi):
    """Logarithms of the probability of at most y and of more."""
    q = mu / (mu + phi)
    term = mpmath.exp(phi * mpmath.log(phi / (mu + phi)))
    total = term
    for k in range(int(y)):
        term *= (phi + k) / (k + 1) * q
        total += term
    return mpmath.log(total), mpmath.log(1 - total)


def tail_line(name, point):
    """line, by sums: the table's formula is an incomplete beta function, slow for a large phi."""
    at = name.endswith("lccdf")
    y, args = point[0], [mpf(x) for x in point[1:]]
    numbers = [negative_binomial(y, *args)[at]]
    for i in range(2):
        h = args[i] * mpf(10) ** -40
        up, down = list(args), list(args)
        up[i] += h
        down[i] -= h
        numbers.append((negative_binomial(y, *up)[at] - negative_binomial(y, *down)[at]) / (2 * h))
    return " ".join([name, "irr"] + [main.number(x) for x in [mpf(y)] + args + numbers])


if __name__ == "__main__":
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "precision.txt")
    with open(path, "w") as out:
        out.write("# Written by precision.py: name, kinds, arguments, value, first derivatives. Do not edit.\n")
        for phi in (0.3, 1.0, 5.0, 7.0, 1e2, 1e4, 1e6, 1e8, 1e10, 1e12, 1e16):
            for n, mu in ((0, 2.5), (1, 0.3), (3, 2.5), (7, 100.0), (100, 90.0), (1000, 3.0), (123456, 1e5)):
                out.write(line("neg_binomial_2_lpmf", (n, mu, phi)) + "\n")
                out.write(line("neg_binomial_2_log_lpmf", (n, float(mpmath.log(mu)), phi)) + "\n")
        for phi in (0.3, 5.0, 99.0, 101.0, 1e4, 1e6, 1e8, 1e10, 1e12, 1e16):
            for n, mu in ((0, 2.5), (1, 0.3), (3, 2.5), (7, 20.0), (20, 7.0), (100, 90.0), (90, 110.0), (1000, 980.0)):
                for name in ("neg_binomial_2_lcdf", "neg_binomial_2_lccdf"):
                    out.write(tail_line(name, (n, mu, phi)) + "\n")
        for nu in (0.3, 1.5, 2.0, 5.0, 30.0, 1e4, 1e6, 1e8, 1e10, 1e12, 1e16):
            for z in (1e-3, 0.7, 1.3, -3.0, 50.0, -1e4, 1e8, 1e20):
                out.write(line("student_t_lpdf", (2 * z + 0.25, nu, 0.25, 2.0)) + "\n")
        mp.dps = 800  # differences by mu of logarithms of y
        for y in (-1e153, 1.2e154, 1.5e154, 1e200, -1.7e308):
            out.write(line("cauchy_lpdf", (y, 0.5, 1.5)) + "\n")
            out.write(line("student_t_lpdf", (y, 3.5, 0.5, 1.5)) + "\n")
            out.write(line("student_t_lpdf", (y, 1e9, 0.5, 1.5)) + "\n")
