#!/usr/bin/env python3
"""Writes golden.txt: values, first and second derivatives of the library's functions of
numbers, in high precision (mpmath), for ordinary and extreme arguments.

    /usr/bin/python3 main.py            # everything, some minutes
    /usr/bin/python3 main.py 'beta_.*'  # functions whose name matches; others stay

Every line of a function is a point: arguments; the value; the derivatives by the arguments
that are real, in order; the second derivatives, row by row of the upper triangle. All are
float64, the arguments exactly, the others rounded. Derivatives are central differences, in
twice as many digits until nothing changes. What raises an error here is left out, and said."""
import concurrent.futures
import os
import re
import sys
import mpmath
from mpmath import mp, mpf
import distributions
import functions

DIGITS = 60
# Those that take long are computed once, in so many digits.
SLOW = {"skew_normal": 60, "von_mises": 60, "owens_t": 60, "inv_inc_beta": 60, "student_t_qf": 60}


def derivatives(f, kinds, args):
    """The value, the gradient and the Hessian by the real arguments of every value of f, as
    one list each."""
    reals = [i for i, k in enumerate(kinds) if k == "r"]
    relative = mpf(10) ** -20
    # A step of a small argument must still be seen beside 1 and the largest one.
    known = [abs(args[i]) for i in reals if args[i] != 0]
    sizes = [0] + [int(mpmath.log10(x)) for x in known]
    mp.dps += 2 * (max(sizes) - min(sizes))
    step = [(abs(a) if a != 0 else min([mpf(1)] + known)) * relative for a in args]

    def at(*moves):
        b = list(args)
        for i, d in moves:
            b[i] += d * step[i]
        v = f(*b)
        return v if isinstance(v, (list, tuple)) else [v]
    v = at()
    up = {i: at((i, 1)) for i in reals}
    down = {i: at((i, -1)) for i in reals}
    pairs = [(i, j) for n, i in enumerate(reals) for j in reals[n + 1:]]
    along = {p: (at((p[0], 1), (p[1], 1)), at((p[0], -1), (p[1], -1))) for p in pairs}
    out = []
    for k, x in enumerate(v):
        if mpmath.isinf(x):
            out.append([x] + [mpf(0)] * (len(reals) * (len(reals) + 3) // 2))
            continue
        row = [x] + [(up[i][k] - down[i][k]) / (2 * step[i]) for i in reals]
        bend = {i: up[i][k] - 2 * x + down[i][k] for i in reals}
        for n, i in enumerate(reals):
            row.append(bend[i] / step[i] ** 2)
            for j in reals[n + 1:]:
                row.append((along[i, j][0][k] - 2 * x + along[i, j][1][k] - bend[i] - bend[j]) / (2 * step[i] * step[j]))
        out.append(row)
    return out


def number(x):
    x = mpmath.re(x)
    if x == 0:
        return "0"
    s = repr(float(x))
    return s[:-2] if s.endswith(".0") else s


def table():
    """One row per computation: names of its values, kinds, function, points."""
    out = []
    for name, (kinds, f, points) in functions.rows.items():
        out.append(([name], kinds, f, points))
    for name, (kinds, density, tails, points) in distributions.rows.items():
        kinds = kinds.replace(" ", "")
        out.append(([name + ("_lpmf" if kinds[0] == "i" else "_lpdf")], kinds, density, [p for p in points if p is not None]))
        if tails:
            both = points[:points.index(None)] if None in points else points
            out.append(([name + "_lcdf", name + "_lccdf"], kinds, tails, both))
    return out


def settled(f, kinds, args, digits):
    """The numbers of a point, computed in more and more digits until nothing changes."""
    last = None
    while digits < 1200:
        mp.dps = digits
        new = derivatives(f, kinds, args)
        mp.dps = 40
        new = [[mpmath.re(+x) for x in row] for row in new]
        if last and all(a == b or abs(a - b) <= mpf(10) ** -17 * abs(b) or abs(b) < mpf(10) ** -330
                        for r, s in zip(last, new) for a, b in zip(r, s)):
            return new
        last = new
        digits = digits * 7 // 4
    raise ValueError("does not settle")


def lines(row):
    names, kinds, f, points = table()[row]
    out = [[] for _ in names]
    for p in points:
        args = [mpf(x) for x in p]
        try:
            slow = [d for n, d in SLOW.items() if names[0].startswith(n) and not names[0].endswith("pdf")]
            if slow:
                mp.dps = slow[0]
                new = derivatives(f, kinds, args)
            else:
                new = settled(f, kinds, args, DIGITS)
            for o, numbers in zip(out, new):
                o.append(" ".join(number(x) for x in args + numbers))
        except Exception as e:
            print(names[0], p, type(e).__name__, e, file=sys.stderr)
    return names, kinds, out


if __name__ == "__main__":
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "golden.txt")
    blocks = {}
    if os.path.exists(path):
        for block in open(path).read().split("\n\n"):
            head, *rest = block.strip().split("\n")
            if head and not head.startswith("#"):
                blocks[head.split()[0]] = block.strip()
    rows = table()
    names = {n for r in rows for n in r[0]}
    only = [i for i, r in enumerate(rows) if len(sys.argv) < 2 or any(re.fullmatch(sys.argv[1], n) for n in r[0])]

    def write():
        with open(path, "w") as out:
            out.write("# Written by main.py: arguments, value, first and second derivatives. Do not edit.\n\n")
            out.write("\n\n".join(blocks[n] for n in sorted(blocks) if n in names) + "\n")
    with concurrent.futures.ProcessPoolExecutor(int(os.environ.get("JOBS", "2"))) as pool:
        for done in concurrent.futures.as_completed([pool.submit(lines, i) for i in only]):
            for name, rest in zip(done.result()[0], done.result()[2]):
                blocks[name] = "\n".join([name + " " + done.result()[1]] + rest)
                print(name, len(rest), file=sys.stderr)
            write()
