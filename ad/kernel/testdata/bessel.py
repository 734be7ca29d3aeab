#!/usr/bin/env python3
"""Prints the table besselRows of bessel_uniform.go: the coefficients of the polynomials
u_k(p)/p^k in p^2, of the expansion of I_v(x) that is uniform in v (DLMF 10.41.9).

    python3 bessel.py"""
from fractions import Fraction as F

ROWS = 10  # from |v + ix| = 50 on, the next one is below 2e-17

u = {0: F(1)}
print("var besselRows = [...][]float64{")
for k in range(1, ROWS + 1):
    new = {}
    for e, c in u.items():
        for power, f in ((e + 1, F(e, 2) + F(1, 8 * (e + 1))), (e + 3, -F(e, 2) - F(5, 8 * (e + 3)))):
            new[power] = new.get(power, 0) + c * f
    u = new
    print("\t{" + ", ".join(repr(float(u.get(k + 2 * i, 0))) for i in range(k + 1)) + "},")
print("}")
