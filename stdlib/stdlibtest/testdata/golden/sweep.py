#!/usr/bin/env python3
"""Writes sweep.txt: values and first derivatives of log densities, log tails and special
functions of numbers at arguments far apart, in high precision (mpmath). From ordinary points,
one, two or all arguments are multiplied by powers of ten, moved to the next doubles, or, in the
unit interval, moved close to 1; counts are 0, 1, 2, 1000 and more.

    /usr/bin/python3 sweep.py             # what is not in the file yet; can be stopped and resumed
    /usr/bin/python3 sweep.py 'gamma_.*'  # only functions whose name matches
    /usr/bin/python3 sweep.py --found     # only the points of FOUND

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

POWERS = [-200, -60, -16, -8, -3, 3, 8, 16, 60, 200]  # of one argument
FURTHER = [-300, -100, -30, 30, 100, 300]  # of one argument, too
TOGETHER = [-300, -150, -30, -8, 0, 8, 30, 150, 300]  # of several
COUNTS = [0, 1, 2, 1000]
LARGE = [1000000, 2**31 - 1]
COMBINATIONS = 40  # most points of a function in which several arguments are extreme
SLOW = ("skew_normal", "von_mises", "owens_t", "inv_inc_beta", "student_t_qf", "wiener")
PERIODIC = ("sin", "cos", "tan", "fmod", "bessel_first_kind", "bessel_second_kind", "von_mises_lpdf")
# Points at which scattered.py, or counting terms, found faults: a few of each kind.
FOUND = {
    "beta_neg_binomial_lcdf": [  # tiny shapes; a large alpha
        (0, 9.18831747827221, 2.208266468053116e+06, 0.00017948260517359213), (1, 1.4762720311925992e-11, 2.6207705091338977e-06, 9.600350108458296e-08),
        (4, 1.706106897494042e-06, 0.5498803166561341, 1.2001593032110724e-09), (4, 3.610704801679243e-08, 3.190042394349295e-05, 147.5646834109098),
        (0, 0.00014679422940120496, 0.002656511180596483, 0.0014059579433143546), (422, 0.007476043904602593, 0.014404241100187556, 0.2026950868438661),
        (0, 0.000675721340563225, 5.7288773194136485e+07, 2.8355172174269866e-11), (2, 0.06751477955807987, 0.5642490573003633, 45.8295983083057)],
    "frechet_lcdf": [  # a large shape next to a scale of which the logarithm is large
        (8.262091229816564e+165, 1.0323764648059564e+09, 8.262091236751874e+165), (1.8402203665032823e-17, 3629.0637924083176, 1.8399883287168577e-17)],
    "weibull_lcdf": [(1.4970541835661282e+255, 2684.3267917830094, 1.4961849693139062e+255), (7.480489457710706e-117, 5.789446994786125e+10, 7.480489457870126e-117)],
    "loglogistic_lcdf": [(2.915975160140942e+163, 2.9160431538587526e+163, 13821.454374365994), (3.854420255627069e-96, 3.8543287211275574e-96, 99031.28425216547)],
    "pareto_lcdf": [(9.462868066050195e-41, 9.462089735874336e-41, 1721.257007359108), (3.036121787593222e-163, 3.036121763602254e-163, 9.377996911691262e+08)],
    "yule_simon_lcdf": [(125728, 1.4528877746262894), (1633198217, 1.5972260920813177), (348641209, 482.04602257521674)],  # large counts
    "yule_simon_lpmf": [(125728, 1.4528877746262894), (1633198217, 1.5972260920813177)],
    "skew_normal_lcdf": [(9.736019267769317, 9.673461326371875, 3.8356004202353025, -0.0025324818554426417), (0.25, 0, 1, 3), (1e-4, 0, 1, 200)],  # small z
    "von_mises_lcdf": [(-0.3, -0.29, 1e4), (0.9999, 1, 1e8), (2.5e-8, 0, 1e16), (-1e-7, 0, 1e12), (0.4, 1, 500), (-3, 0, 30)],  # large concentrations
    "wiener_lpdf": [  # near the other end; alpha whose square overflows
        (26.362322030042456, 0.021845399986977793, 26.36221119100412, 0.9999999999976665, 0), (1.592013976232652e+307, 6.237451000596619e+214, 1.5920138368783727e+307, 0.9999952756103115, 0.01823848470135863)],
    "log_modified_bessel_first_kind": [(0.5, 1e6), (1e4, 3e4), (20, 45.8), (30, 1e-5), (3, 55), (300, 200)],
    "modified_bessel_second_kind": [(0, 1e-300), (0, 0.999), (1, 1e-300)],
}
SECONDS = 10
SLOW_SECONDS = 60


def single(b, i, kind):
    """Extreme values of argument i of point b."""
    if kind == "i":
        return COUNTS
    return [b[i] * 10.0 ** e for e in POWERS] + [math.nextafter(b[i], math.inf)]


def near_one(x): return [1 - 1e-8, 1 - 2.0**-53] if 0 < x < 1 else []


def further(b, i, kind):
    if kind == "i":
        return LARGE
    return [b[i] * 10.0 ** e for e in FURTHER] + [math.nextafter(b[i], -math.inf)] + near_one(b[i])


def several(b, kinds, rng):
    """A point in which at least two arguments are extreme."""
    moved = rng.sample(range(len(kinds)), 2 if rng.random() < 0.5 else len(kinds))
    p = list(b)
    for i in moved:
        if kinds[i] == "i":
            p[i] = rng.choice(COUNTS + LARGE)
        else:
            p[i] = rng.choice([b[i] * 10.0 ** e for e in TOGETHER] + near_one(b[i]))
    return tuple(p)


def points(name, kinds, given):
    """Those of one extreme argument, and the others."""
    base = [p for p in given if p is not None][:2]
    first, rest = [], []

    def add(out, p):
        if name == "von_mises_lpdf" and max(abs(p[0]), abs(p[1])) > 1e5:  # y - mu is rounded
            return
        if name.startswith("bessel") and p[0] > 1000:  # by recurrences
            return
        if name == "uniform_lcdf" and p[0] in p[1:]:  # an end
            return
        if p not in first + rest and all(k == "i" or v != 0 and math.isfinite(v) for b in base for k, v, o in zip(kinds, p, b) if v != o):
            out.append(p)
    for out, values in ((first, single), (rest, further)):
        for b in base:
            for i, k in enumerate(kinds):
                for v in values(b, i, k):
                    add(out, tuple(b[:i]) + (v,) + tuple(b[i + 1:]))
    rng = random.Random(name)
    for n in range(COMBINATIONS if len(kinds) > 1 else 0):
        add(rest, several(base[n % len(base)], kinds, rng))
    for ps in (first, rest):
        random.Random(name).shuffle(ps)
    return first, rest


def gradient(f, kinds, args, digits, periodic):
    reals = [i for i, k in enumerate(kinds) if k == "r"]
    sizes = [0] + [int(abs(mpmath.log10(abs(args[i])))) for i in reals if args[i] != 0]
    mp.dps = digits + (4 if periodic else 2) * max(sizes)
    h = mpf(10) ** -(30 + (2 * max(sizes) if periodic else 0))  # much less than a period
    as_list = lambda v: list(v) if isinstance(v, (list, tuple)) else [v]
    rows = [[v] for v in as_list(f(*args))]
    for i in reals:
        up, down = list(args), list(args)
        step = (abs(args[i]) if args[i] != 0 else min([mpf(1)] + [abs(a) for a in args if a != 0])) * h
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
    slow = names[0].startswith(SLOW) and not names[0].endswith("pdf")
    signal.alarm(SLOW_SECONDS if slow else SECONDS)
    args = [mpf(v) for v in point]
    last = None
    try:
        for digits in (50, 70, 120) if slow else (70, 120, 200, 380):
            new = gradient(f, kinds, args, digits, names[0] in PERIODIC)
            mp.dps = 40
            flat = [v for r in new for v in r]
            if names[0] == "fmod" and flat[0] == 0:
                return job, "a jump", []
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
        if names[0] == "discrete_range_lcdf":  # its formula is for counts in the range
            continue
        only = sys.argv[1] if len(sys.argv) > 1 else ".*"
        if only != "--found" and not re.fullmatch(only, names[0]):
            continue
        slow = names[0].startswith(SLOW) and not names[0].endswith("pdf")
        found = FOUND.get(names[0], [])
        for kind, ps in enumerate([found] if only == "--found" else [found, *points(names[0], kinds, given)]):
            jobs += [((slow, i, kind), row, p) for i, p in enumerate(ps) if (names[0], tuple(float(v) for v in p)) not in done]
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
