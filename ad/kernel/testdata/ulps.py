#!/usr/bin/env python3
"""Writes ulps.txt: python3 testdata/ulps.py > testdata/ulps.txt

Each line is a function, its arguments, its value and what the value's rounding lost, as
hexadecimal numbers, computed by mpmath: for the functions whose errors are tested in
units of the last place.
"""
import math as m
import random
from mpmath import *
mp.dps = 60

def mills(t):  # the series 1 - 1/t² + 3/t⁴ - … of t Φ(-t)/φ(t)
    s = term = mpf(1)
    for k in range(1, 60):
        term *= -(2 * k - 1) / (t * t)
        s += term
    return s
def Phi(x): return erfc(-x / sqrt(mpf(2))) / 2
def logphi(x):
    if x > 0: return log1p(-Phi(-x)) if x < 12 else -Phi(-x)
    return log(Phi(x)) if x > -300 else -x * x / 2 - log(2 * pi) / 2 - log(-x) + log(mills(-x))
def ratio(x):
    with workdps(120):
        return exp(-x * x / 2) / sqrt(2 * pi) / Phi(x) if x > -300 else -x / mills(-x)
def excess(x):
    with workdps(120): return x + ratio(x)
def lgam(x): return log(abs(gamma(x))) if x < 0 else loggamma(x)
def rise(x, d):
    with workdps(420): return psi(0, x + d) - psi(0, x)
def lmulti(x, n):
    with workdps(420): return loggamma(x + n) - loggamma(x) - loggamma(n + 1)

random.seed(1)
def spread(n, centre, lo, hi, tiny=True):
    """Numbers around 0, over [lo, hi], and of small magnitude."""
    out = [random.uniform(-centre, centre) for _ in range(n // 2)] + [random.uniform(lo, hi) for _ in range(n // 4)]
    return out + [random.choice([-1, 1]) * 10 ** random.uniform(-300 if k % 4 == 0 else -12, 0) for k in range(n // 4)]
def positive(n):
    out = [random.uniform(0, 10) for _ in range(n // 2)] + [random.uniform(0, 300) for _ in range(n // 4)]
    return out + [10 ** random.uniform(-12, 12) for _ in range(n // 8)] + [10 ** random.uniform(-290, 290) for _ in range(n // 8)]
def counts(n): return [float(random.randint(1, 60)) for _ in range(n)]
left = [-10 ** random.uniform(1, 150) for _ in range(10)]
near = [c + s * 10 ** random.uniform(-12, -1) for c in (1, 2, 1.4616321449683622, 0.7, 6) for s in (-1, 1) for _ in range(4)]
negative = [-random.uniform(0, 30) for _ in range(20)]

def exactly(f):
    def g(x):
        with workdps(400): return f(x)
    return g
# Near multiples of π/2, and of any size; the last is the worst of all.
turns = [float(k * pi / 2) for k in list(range(1, 12)) + [random.randint(1, 2 ** 30) for _ in range(20)]]
turns += [10 ** random.uniform(6, 300) for _ in range(40)] + [6381956970095103.0 * 2.0 ** 797, float.fromhex("0x1.6ac5b262ca1ffp+849")]

def invphi(p):
    with workdps(80):
        q = min(p, 1 - p)
        x = findroot(lambda t: log(erfc(-t / sqrt(mpf(2))) / 2) - log(q), -sqrt(-2 * log(q)) if q < 0.1 else -sqrt(mpf(2)) * erfinv(1 - 2 * q))
        return x if p <= 0.5 else -x
probabilities = [random.uniform(0, 1) for _ in range(60)] + [10 ** random.uniform(-300, -1) for _ in range(30)]
probabilities += [1 - 10 ** random.uniform(-15, -1) for _ in range(20)] + [0.5 + random.uniform(-1, 1) * 10 ** random.uniform(-12, -2) for _ in range(20)]

tables = [
    ("Phi", Phi, [(x,) for x in spread(80, 6, -37, 9)]),
    ("LogPhi", logphi, [(x,) for x in spread(80, 6, -40, 37) + left]),
    ("PhiRatio", ratio, [(x,) for x in spread(80, 6, -40, 37) + left]),
    ("PhiExcess", excess, [(x,) for x in spread(80, 6, -40, 37) + left]),
    ("LogExpModTail", lambda z, v: v * v / 2 - v * z + logphi(z - v), [(z, abs(v)) for z, v in zip(spread(100, 6, -40, 37), reversed(spread(100, 6, -40, 37)))]),
    ("InvPhi", invphi, [(p,) for p in probabilities]),
    ("Erf", erf, [(x,) for x in spread(80, 2, -7, 7)]),
    ("Erfc", erfc, [(x,) for x in spread(80, 3, -7, 26)]),
    ("Lgamma", lgam, [(x,) for x in positive(120) + near]),
    ("LgammaNegative", lgam, [(x,) for x in negative]),
    ("Digamma", lambda x: psi(0, x), [(x,) for x in positive(120) + near[:16] + near[24:]]),
    ("DigammaNegative", lambda x: psi(0, x), [(x,) for x in negative]),
    ("DigammaRise", rise, list(zip(positive(120), positive(60) + counts(60))) + [(10 ** random.uniform(2, 12), random.uniform(0, 1)) for _ in range(20)]),
    ("Lmultichoose", lmulti, list(zip(positive(120), counts(120))) + [(10 ** random.uniform(-2, 8), 10 ** random.uniform(0, 8)) for _ in range(30)]),
    ("Expm1", expm1, [(x,) for x in spread(160, 3, -40, 700)]),
    ("Tanh", tanh, [(x,) for x in spread(160, 3, -25, 25)]),
    ("Sin", exactly(sin), [(x,) for x in spread(80, 10, -1e6, 1e6) + turns]),
    ("Cos", exactly(cos), [(x,) for x in spread(80, 10, -1e6, 1e6) + turns]),
    ("Log1mExp", lambda x: log(-expm1(x)) if x > -80 else -exp(x), [(-abs(x),) for x in spread(160, 3, -700, 40)]),
]

def lbeta(x, y):
    with workdps(700): return loggamma(x) + loggamma(y) - loggamma(x + y)
def lchoose(n, k):
    with workdps(420): return loggamma(n + 1) - loggamma(k + 1) - loggamma(n - k + 1)
def many(f):  # more digits for arguments whose sum with 1 loses them
    def g(*x):
        with workdps(700): return f(*x)
    return g
ones = [random.choice([-1, 1]) * (1 - 10 ** random.uniform(-16, -1)) for _ in range(30)]
sizes = [random.choice([-1, 1]) * 10 ** random.uniform(-280, 280) for _ in range(30)]
above = [1 + 10 ** random.uniform(-15, 1) for _ in range(60)] + [10 ** random.uniform(0, 280) for _ in range(20)]
units = spread(120, 1, -1, 1) + ones
logs = positive(120) + [1 + random.uniform(-1, 1) * 10 ** random.uniform(-12, -1) for _ in range(40)]
choices = [(n, n * random.uniform(0, 1)) for n in positive(60)] + [(float(n), float(random.randint(0, n))) for n in [random.randint(1, 1000) for _ in range(60)]]
choices += [(n, random.uniform(-0.9, 9)) for n in [10 ** random.uniform(1, 12) for _ in range(30)]]
# The ends of what tables of exponentials and logarithms leave to polynomials.
ends = [s * (random.randint(0, 300) + 0.5 + random.uniform(-0.03, 0.03)) * m.log(2) / 128 for k in range(30) for s in (-1, 1)]
ends += [s * (0.5 + random.uniform(-0.06, 0)) * m.log(2) / 128 for k in range(30) for s in (-1, 1)]
fine = [s * 10 ** random.uniform(-16, -2) for k in range(60) for s in (-1, 1)]
tables += [
    ("Expm1", many(expm1), [(x,) for x in ends]),
    ("Tanh", many(tanh), [(x,) for x in ends]),
    ("Exp2", lambda x: mpf(2) ** x, [(x,) for x in spread(160, 3, -960, 990)]),
    ("Log2", lambda x: log(x) / log(mpf(2)), [(x,) for x in logs] + [(2.0 ** k,) for k in (-900, -1, 1, 3, 77)]),
    ("Log10", log10, [(x,) for x in logs] + [(10.0 ** k,) for k in range(1, 23)]),
    ("Tan", exactly(tan), [(x,) for x in spread(80, 10, -1e6, 1e6) + turns]),
    ("Asin", many(asin), [(x,) for x in units]),
    ("Acos", many(acos), [(x,) for x in units]),
    ("Atan", many(atan), [(x,) for x in spread(160, 3, -100, 100) + sizes]),
    ("Atan2", many(atan2), list(zip(spread(160, 3, -100, 100), reversed(spread(160, 3, -100, 100)))) + list(zip(sizes, reversed(sizes)))),
    ("Sinh", many(sinh), [(x,) for x in spread(160, 3, -690, 690) + ends]),
    ("Cosh", many(cosh), [(x,) for x in spread(160, 3, -690, 690) + ends]),
    ("Asinh", many(asinh), [(x,) for x in spread(160, 3, -100, 100) + sizes + fine]),
    ("Acosh", many(acosh), [(x,) for x in above]),
    ("Atanh", many(atanh), [(x,) for x in units + fine]),
    ("Lbeta", lbeta, list(zip(positive(120), reversed(positive(120)))) + [(a, b) for a in (1e-10, 0.1, 2.5, 50.5, 1e8) for b in (0.3, 5.0, 1e6, 1e12)] + [(0.5, 1e305), (2.0, 3e303), (1e-250, 1e-251), (1e-250, 3.0), (1e302, 1e303)]),
    ("Lchoose", lchoose, choices + [(1e305, 2.5), (1e303, 4e302), (1 + 1e-8, 1.0), (2.0, 1 - 1e-9), (4.5, -0.5)]),
]
tables += [
    ("Cbrt", many(lambda x: cbrt(x) if x > 0 else -cbrt(-x)), [(x,) for x in spread(160, 10, -1000, 1000) + sizes + [float(k) ** 3 for k in (1, 2, 3, 7, 12345)]]),
    ("Hypot", many(hypot), list(zip(spread(160, 3, -100, 100), reversed(spread(160, 3, -100, 100)))) + list(zip(sizes, reversed(sizes))) + [(s, s * random.uniform(-1, 1)) for s in sizes]),
    ("Trigamma", lambda x: psi(1, x), [(x,) for x in positive(160) if 1e-140 < x < 1e300] + [(random.uniform(0.9, 6.1),) for _ in range(60)]),
    ("TrigammaNegative", lambda x: psi(1, x), [(x,) for x in negative]),
]
# Where Tanh and TanhSlope change from one formula to the other, and in the far tails.
changes = [s * (0.77 + random.uniform(-1, 1) * 10 ** random.uniform(-14, -0.5)) for k in range(60) for s in (-1, 1)]
tables += [
    ("Tanh", many(tanh), [(x,) for x in changes]),
    ("TanhSlope", many(lambda x: sech(x) ** 2), [(x,) for x in changes + ends + spread(160, 3, -25, 25) + [random.uniform(-330, 330) for _ in range(40)]]),
]

for name, f, points in tables:
    for args in points:
        y = f(*(mpf(a) for a in args))
        high = float(y)
        if high == 0 or abs(high) < 1e-290 or abs(high) > 1e300:
            continue  # units in the last place of subnormal numbers are no measure
        print(name, *(float(a).hex() for a in args), high.hex(), float(y - mpf(high)).hex())
