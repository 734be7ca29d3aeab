#!/usr/bin/env python3
"""Prints the tables of legendre.go: nodes and weights of Gauss-Legendre rules on (0, 1), by
Newton's method from Tricomi's approximation."""
import math
from mpmath import mp, mpf
mp.dps = 40


def rule(n):
    out = []
    for i in range(1, n + 1):
        x = mpf(math.cos(math.pi * (i - 0.25) / (n + 0.5)))
        for _ in range(8):
            p, q = x, mpf(1)
            for k in range(2, n + 1):
                p, q = ((2 * k - 1) * x * p - (k - 1) * q) / k, p
            slope = n * (x * p - q) / (x * x - 1)
            x -= p / slope
        out.append(((1 - x) / 2, 1 / ((1 - x * x) * slope * slope)))
    return out


for n in (28, 48):
    print("// Legendre28 is the rule of 28 nodes.\nvar Legendre28 = [...][2]float64{" if n == 28 else "var legendre%d = [...][2]float64{" % n)
    for x, w in rule(n):
        print("\t{%r, %r}," % (float(x), float(w)))
    print("}\n")
