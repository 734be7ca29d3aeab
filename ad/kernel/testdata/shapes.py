#!/usr/bin/env python3
"""Writes shapes.txt: logarithms of the incomplete gamma and beta functions and of Student's
distribution function at shapes from 1e-8 to 1e16, with first derivatives by the shapes, in
high precision (mpmath). The arguments are doubles, taken exactly.

    /usr/bin/python3 shapes.py          # what is not in the file yet; can be stopped and resumed

A line is: name, arguments, value, derivatives."""
import concurrent.futures
import os
import random
import sys
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "../../../stdlib/stdlibtest/testdata/golden"))
import mpmath
from mpmath import mp, mpf
import special

SHAPES = [1e-8, 1e-4, 0.05, 0.7, 1, 2.5, 6, 20, 47, 53, 200, 999, 1001, 1e4, 3e5, 1e8, 1e11, 1e12, 1e16]
# Standard deviations from the mean, and factors of it.
NEAR, FAR = [0, 0.3, -1, 2, -3.4, 3.6, -5, 8, -20, 37], [1e-8, 1e-3, 0.3, 1.7, 30]


def points():
    """Names with arguments."""
    out = []
    for a in SHAPES:
        xs = {a + s * a ** 0.5 for s in NEAR} | {a * f for f in FAR} | {1e-8, 1.3, 1e16}
        for x in sorted(xs):
            if 1e-9 < x < 2e17 and x < 700 * a + 5000:
                out.append(("gamma", (a, x)))
    rng = random.Random(1)
    for a in SHAPES:
        for b in SHAPES:
            m, s = a / (a + b), (a * b / (a + b + 1)) ** 0.5 / (a + b)
            xs = {m + k * s for k in rng.sample(NEAR, 4)} | {m * f for f in rng.sample(FAR, 2)} | {rng.choice([1e-8, 0.3, 0.999])}
            for x in sorted(xs):
                if 0 < x < 1:
                    out.append(("beta", (x, a, b)))
    for nu in SHAPES:
        if nu >= 0.05:
            for t in [-1e-8, -0.5, -3, -10, 1.5, 6, -1e4]:
                out.append(("student", (t, nu)))
    return out


FUNCTIONS = {
    "gamma": (special.gamma_tails, [0]),
    "beta": (lambda x, a, b: special.beta_tails(x, 1 - x, a, b), [1, 2]),
    "student": (special.student, [1]),
}


def compute(point):
    name, args = point
    f, by = FUNCTIONS[name]
    last = None
    for digits in (60, 90, 135, 200, 300):
        mp.dps = digits
        x = [mpf(v) for v in args]
        size = [int(abs(mpmath.log10(v))) if v else 0 for v in map(abs, x)]
        mp.dps = digits + 2 * max(size)
        h = mpf(10) ** -20
        value = f(*x)
        rows = [[v] for v in value]
        for i in by:
            up, down = list(x), list(x)
            up[i] += x[i] * h
            down[i] -= x[i] * h
            for row, u, d in zip(rows, f(*up), f(*down)):
                row.append((u - d) / (2 * x[i] * h))
        new = [float(v) for row in rows for v in row]
        if last and all(a == b or abs(a - b) <= 2e-16 * abs(b) for a, b in zip(new, last)):
            return " ".join([name] + [repr(float(v)) for v in args] + [repr(v) for v in new])
        last = new
    return None


if __name__ == "__main__":
    path = os.path.join(HERE, "shapes.txt")
    done = set()
    if os.path.exists(path):
        for line in open(path):
            w = line.split()
            if w and w[0] in FUNCTIONS:
                done.add((w[0], tuple(float(v) for v in w[1:1 + len({"gamma": "ax", "beta": "xab", "student": "tn"}[w[0]])])))
    todo = [p for p in points() if p not in done]
    random.Random(2).shuffle(todo)  # so that a run that is stopped leaves a part of everything
    print(len(todo), "points to compute", file=sys.stderr)
    with open(path, "a") as out, concurrent.futures.ProcessPoolExecutor(int(os.environ.get("JOBS", "2"))) as pool:
        if not done:
            out.write("# Written by shapes.py: arguments; value and derivatives of the lower tail, then of the upper one. Do not edit.\n")
        for p, line in zip(todo, pool.map(compute, todo, chunksize=4)):
            if line is None:
                print("does not settle:", p, file=sys.stderr)
            else:
                out.write(line + "\n")
                out.flush()
