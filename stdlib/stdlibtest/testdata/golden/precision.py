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


if __name__ == "__main__":
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "precision.txt")
    with open(path, "w") as out:
        out.write("# Written by precision.py: name, kinds, arguments, value, first derivatives. Do not edit.\n")
        for phi in (0.3, 1.0, 5.0, 7.0, 1e2, 1e4, 1e6, 1e8, 1e10, 1e12, 1e16):
            for n, mu in ((0, 2.5), (1, 0.3), (3, 2.5), (7, 100.0), (100, 90.0), (1000, 3.0), (123456, 1e5)):
                out.write(line("neg_binomial_2_lpmf", (n, mu, phi)) + "\n")
                out.write(line("neg_binomial_2_log_lpmf", (n, float(mpmath.log(mu)), phi)) + "\n")
