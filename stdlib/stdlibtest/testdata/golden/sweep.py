#!/usr/bin/env python3
"""Writes sweep.txt: values and first derivatives of log densities, log tails and special
functions of numbers at arguments far apart, in high precision (mpmath). From ordinary points,
one argument at a time is multiplied by powers of ten, or moved to the next double; counts are
0, 1, 2 and 1000.

    /usr/bin/python3 sweep.py             # what is not in the file yet; can be stopped and resumed
    /usr/bin/python3 sweep.py 'gamma_.*'  # only functions whose name matches

A line is: name, kinds of the arguments, arguments, value, derivatives by the real arguments.
What raises an error here, is complex or does not settle is left out, and counted."""
import concurrent.futures
import math
import os
import random
import re
import signal
import sys
import mpmath
from mpmath import mp, mpf
import main

POWERS = [-200, -60, -16, -8, -3, 3, 8, 16, 60, 200]
COUNTS = [0, 1, 2, 1000]
SLOW = ("skew_normal", "von_mises", "owens_t", "inv_inc_beta", "student_t_qf", "wiener")
PERIODIC = ("sin", "cos", "tan", "fmod", "bessel_first_kind", "bessel_second_kind")
SECONDS = 60


def points(kinds, given):
    base = [p for p in given if p is not None][:2]
    out = []
    for b in base:
        for i, k in enumerate(kinds):
            if k == "i":
                values = COUNTS
            else:
                values = [b[i] * 10.0 ** e for e in POWERS] + [math.nextafter(b[i], math.inf)]
            for v in values:
                p = tuple(b[:i]) + (v,) + tuple(b[i + 1:])
                if p not in out and (k == "i" or v != 0 and math.isfinite(v)):
                    out.append(p)
    return out


def gradient(f, kinds, args, digits):
    reals = [i for i, k in enumerate(kinds) if k == "r"]
    sizes = [0] + [int(abs(mpmath.log10(abs(args[i])))) for i in reals if args[i] != 0]
    mp.dps = digits + 2 * max(sizes)
    h = mpf(10) ** -20
    as_list = lambda v: list(v) if isinstance(v, (list, tuple)) else [v]
    rows = [[v] for v in as_list(f(*args))]
    for i in reals:
        up, down = list(args), list(args)
        step = abs(args[i]) * h
        up[i] += step
        down[i] -= step
        for row, u, d in zip(rows, as_list(f(*up)), as_list(f(*down))):
            row.append(mpf(0) if mpmath.isinf(row[0]) else (u - d) / (2 * step))
    return rows


def late(*_):
    raise TimeoutError("takes too long")


def compute(job):
    row, point = job
    names, kinds, f, _ = main.table()[row]
    signal.signal(signal.SIGALRM, late)
    signal.alarm(SECONDS)
    args = [mpf(v) for v in point]
    last = None
    try:
        for digits in (60, 110, 200, 380):
            new = gradient(f, kinds, args, digits)
            mp.dps = 40
            flat = [v for r in new for v in r]
            if any(mpmath.isnan(v) or abs(mpmath.im(v)) > 0 for v in flat):
                return job, "not a real number", []
            flat = [+mpmath.re(v) for v in flat]
            if last and all(a == b or abs(a - b) <= mpf(10) ** -17 * abs(b) or abs(b) < mpf(10) ** -330 for a, b in zip(last, flat)):
                n = len(flat) // len(names)
                numbers = lambda vs: " ".join(main.number(v) for v in vs)
                return job, "", [" ".join([name, kinds, numbers(args), numbers(flat[k * n:k * n + n])]) for k, name in enumerate(names)]
            last = flat
        return job, "does not settle", []
    except Exception as e:
        return job, type(e).__name__ + " " + str(e)[:60], []
    finally:
        signal.alarm(0)


if __name__ == "__main__":
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "sweep.txt")
    done = set()
    if os.path.exists(path):
        for line in open(path):
            w = line.split()
            if w[0] != "#":
                done.add((w[0], tuple(float(v) for v in w[2:2 + len(w[1])])))
    jobs = []
    for row, (names, kinds, f, given) in enumerate(main.table()):
        if names[0] in PERIODIC:  # a step would be many periods
            continue
        if names[0] == "discrete_range_lcdf":  # its formula is for counts in the range
            continue
        if names[0].startswith(SLOW) and not names[0].endswith("pdf"):
            continue
        if len(sys.argv) > 1 and not re.fullmatch(sys.argv[1], names[0]):
            continue
        ps = points(kinds, given)
        if names[0] == "von_mises_lpdf":
            ps = [p for p in ps if max(abs(p[0]), abs(p[1])) < 1e10]
        random.Random(names[0]).shuffle(ps)
        jobs += [(i, row, p) for i, p in enumerate(ps) if (names[0], tuple(float(v) for v in p)) not in done]
    # In turn, so that a run that is stopped leaves a part that covers all functions.
    jobs = [job[1:] for job in sorted(jobs, key=lambda job: job[0])]
    print(len(jobs), "points to compute", file=sys.stderr)
    left = {}
    with open(path, "a") as out, concurrent.futures.ProcessPoolExecutor(int(os.environ.get("JOBS", "2"))) as pool:
        if not done:
            out.write("# Written by sweep.py: name, kinds, arguments, value, first derivatives. Do not edit.\n")
        for job, why, lines in pool.map(compute, jobs, chunksize=8):
            for line in lines:
                out.write(line + "\n")
            out.flush()
            if why:
                left[why] = left.get(why, 0) + 1
    for why, n in sorted(left.items()):
        print(n, "left out:", why, file=sys.stderr)
