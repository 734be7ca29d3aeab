#!/usr/bin/env python3
"""Writes points of the distributions at random arguments, logarithmic over the doubles, with
values and first derivatives in high precision (mpmath), in the format of sweep.txt. Half of the
variates are near the bulk of the distribution. TestScattered reads the file.

    /usr/bin/python3 scattered.py FILE 200            # 200 points a function; resumable
    /usr/bin/python3 scattered.py FILE 200 'gamma_.*' # only functions whose name matches

What raises an error here, is complex, takes too long or does not settle is left out, and counted."""
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
import sweep

SECONDS = int(os.environ.get("SECONDS_A_POINT", "4"))
SUMMED = 2000  # the greatest count of the tails that are sums here
SUMS = ("beta_binomial_lcdf", "beta_neg_binomial_lcdf")
ORDINARY = ("skew_normal_lcdf", "von_mises_lcdf")  # integrals that are slow at far arguments
FEWER = 10  # such a part of their points


class Draw:
    """Random arguments."""

    def __init__(self, name, i):
        self.rng = random.Random(f"{name} {i}")
        self.near = i % 2 == 0 or name in ORDINARY

    def size(self):
        u = self.rng.random()
        e = 2 if self.near and u < 0.7 else 12 if u < 0.8 else 290
        if self.near and e == 290:
            e = 4
        return 10 ** self.rng.uniform(-e, e)

    def real(self): return self.rng.choice((-1, 1)) * self.size()

    def place(self, s):
        """A location beside the scale s, of which differences are known to some digits."""
        m = self.real()
        return m if 1e-12 < abs(m) / s < 1e12 else s * self.rng.choice((-1, 1)) * 10 ** self.rng.uniform(-12, 9)

    def unit(self):
        u = self.rng.random()
        if u < 0.5:
            return self.rng.random() or 0.5
        e = 10 ** -self.rng.uniform(0, 300 if u > 0.9 and not self.near else 12)
        return e if u > 0.75 or 1 - e == 1 else 1 - e

    def count(self, most=2**31 - 1):
        u = self.rng.random()
        return min(most, int(self.rng.uniform(0, 5) if u < 0.4 else 10 ** self.rng.uniform(0, 3 if u < 0.8 else 9.3)))

    def about(self, centre, spread):
        """A variate of the line."""
        u = self.rng.random()
        z = 10 ** self.rng.uniform(-3, 1.6) if u < 0.7 else self.size()
        return centre + self.rng.choice((-1, 1)) * z * spread

    def positive(self, centre, relative):
        """A positive variate, relative its standard deviation over the mean."""
        u = self.rng.random()
        v = centre * math.exp(max(-600, min(600, self.rng.gauss(0, 2.5) * min(relative, 30)))) if u < 0.7 else self.size()
        return v if v > 0 else self.size()

    def whole(self, centre, relative, most=2**31 - 1):
        v = self.positive(centre, relative) if self.rng.random() < 0.7 and centre < 1e300 else self.count()
        return min(most, int(min(v, 2**31 - 1)))

    def inside(self, centre, sd):
        """A variate of the unit interval."""
        v = centre + self.rng.gauss(0, 2.5) * sd
        return v if self.rng.random() < 0.7 and 0 < v < 1 else self.unit()


def on_line(d):
    s = d.size()
    m = d.place(s)
    return d.about(m, s), m, s


def shape(d, f):
    a, b = d.size(), d.size()
    return f(d.positive(a / b, a ** -0.5), a, b)


def power(d):
    a, s = d.size(), d.size()
    return d.positive(s, 1 / a), a, s


def beta(d):
    a, b = d.size(), d.size()
    n = a + b
    return d.inside(a / n, math.sqrt(a / n * (b / n) / (n + 1))), a, b


def proportion(d):
    m, k = d.unit(), d.size()
    return d.inside(m, math.sqrt(m * (1 - m) / (k + 1))), m, k


def trials(d, p, sd, most=2**31 - 1):
    n = d.count(most)
    v = d.positive(max(p * n, 1e-300), sd(n)) if d.rng.random() < 0.7 else d.count()
    return min(n, int(v)), n


def binomial(d, logit=False):
    p = d.unit()
    y, n = trials(d, p, lambda n: math.sqrt((1 - p) / max(p * n, 1e-300)))
    if logit:
        return y, n, d.real() if d.rng.random() < 0.5 else math.log(p) - math.log1p(-p)
    return y, n, p


def beta_binomial(d, most):
    a, b = d.size(), d.size()
    y, n = trials(d, a / (a + b), lambda n: (1 / max(n, 1) + 1 / (a + b)) ** 0.5 * math.sqrt(b / a), most)
    return y, n, a, b


def failures(d, kind):
    mu, phi = d.size(), d.size()
    y = d.whole(mu, (1 / mu + 1 / phi) ** 0.5)
    return (y, phi, phi / mu) if kind == 1 else (y, mu, phi) if kind == 2 else (y, math.log(mu), phi)


def beta_failures(d, most):
    r, a, b = d.size(), d.size(), d.size()
    return d.whole(min(r * (b / a), 1e300), 1, most), r, a, b


def passage(d):
    a, b, v = d.size(), d.unit(), d.real() if d.rng.random() < 0.9 else 0.0
    u = min(a * a, 1e300) * 10 ** d.rng.uniform(-3, 1)
    t = abs(d.place(u)) if u else 1.0
    return t + u, a, t, b, v


def chi(d, f):
    n = d.size()
    return f(d.positive(n, (2 / n) ** 0.5), n)


def line_and_size(d):
    return on_line(d) + (d.size(),)


def poisson(d):
    l = d.size()
    return d.whole(l, l ** -0.5), l


def interval(d):
    s = d.size()
    a = d.place(s)
    return a + s * d.unit(), a, a + s


draws = {
    "normal": on_line, "std_normal": lambda d: (d.real(),), "cauchy": on_line, "double_exponential": on_line, "logistic": on_line, "gumbel": on_line,
    "student_t": lambda d: (lambda y, m, s, n: (y, n, m, s))(*line_and_size(d)),
    "von_mises": lambda d: (d.rng.uniform(-math.pi, math.pi), d.rng.uniform(-math.pi, math.pi), d.size()),
    "lognormal": lambda d: (lambda m, s: (d.positive(math.exp(max(-600, min(600, m))), min(s, 100)), m, s))(*on_line(d)[1:]),
    "exponential": lambda d: (lambda b: (d.positive(1 / b, 1), b))(d.size()),
    "gamma": lambda d: shape(d, lambda y, a, b: (y, a, b)), "inv_gamma": lambda d: shape(d, lambda y, a, b: (1 / y, a, b)),
    "chi_square": lambda d: chi(d, lambda y, n: (y, n)), "inv_chi_square": lambda d: chi(d, lambda y, n: (1 / y, n)),
    "scaled_inv_chi_square": lambda d: (lambda n, s: (d.positive(s * s, (2 / n) ** 0.5), n, s))(d.size(), d.size()),
    "weibull": power, "frechet": power, "loglogistic": lambda d: (lambda y, a, s: (y, s, a))(*power(d)),
    "rayleigh": lambda d: (lambda s: (d.positive(s, 1), s))(d.size()),
    "pareto": lambda d: (lambda m, a: (m * (1 + d.positive(1 / a, 1)), m, a))(d.size(), d.size()),
    "pareto_type_2": lambda d: (lambda l, a: (lambda m: (m + d.positive(l / a, 1), m, l, a))(d.place(l / a)))(d.size(), d.size()),
    "beta": beta, "beta_proportion": proportion, "uniform": interval,
    "skew_normal": lambda d: (lambda y, m, s, a: (y, m, s, a * d.rng.choice((-1, 1))))(*line_and_size(d)),
    "exp_mod_normal": line_and_size, "skew_double_exponential": lambda d: on_line(d) + (d.unit(),),
    "bernoulli": lambda d: (d.rng.randrange(2), d.unit()), "bernoulli_logit": lambda d: (d.rng.randrange(2), d.real()),
    "binomial": binomial, "binomial_logit": lambda d: binomial(d, True), "poisson": poisson,
    "poisson_log": lambda d: (lambda y, l: (y, math.log(l) if d.rng.random() < 0.7 else d.real()))(*poisson(d)),
    "neg_binomial": lambda d: failures(d, 1), "neg_binomial_2": lambda d: failures(d, 2), "neg_binomial_2_log": lambda d: failures(d, 3),
    "yule_simon": lambda d: (1 + d.count(), d.size()), "wiener": passage,
}


def point(name, i):
    stem, most = name.rsplit("_", 1)[0], SUMMED if name in SUMS else 2**31 - 1
    d = Draw(name, i)
    if stem == "beta_binomial":
        return beta_binomial(d, most)
    if stem == "beta_neg_binomial":
        return beta_failures(d, most)
    try:
        return draws[stem](d) if stem in draws else None
    except (ZeroDivisionError, OverflowError):  # a scale beyond the doubles
        return None


def compute(job):
    row, point = job
    names, kinds, f, _ = main.table()[row]
    signal.signal(signal.SIGALRM, sweep.late)
    signal.alarm(SECONDS)
    args, last = [mpf(v) for v in point], None
    try:
        for digits in (45, 70, 120, 250):
            new = sweep.gradient(f, kinds, args, digits, False)
            mp.dps = 40
            flat = [v for r in new for v in r]
            if any(mpmath.isnan(v) or abs(mpmath.im(v)) > 0 for v in flat):
                return names[0], "not a real number", []
            flat = [+mpmath.re(v) for v in flat]
            if last and all(a == b or abs(a - b) <= mpf(10) ** -14 * abs(b) or abs(b) < mpf(10) ** -330 for a, b in zip(last, flat)):
                n = len(flat) // len(names)
                numbers = lambda vs: " ".join(main.number(v) for v in vs)
                return names[0], "", [" ".join([name, kinds, numbers(args), numbers(flat[k * n:k * n + n])]) for k, name in enumerate(names)]
            last = flat
        return names[0], "does not settle", []
    except Exception as e:
        return names[0], type(e).__name__ + " " + str(e)[:60], []
    finally:
        signal.alarm(0)


if __name__ == "__main__":
    path, number = sys.argv[1], int(sys.argv[2])
    done = set()
    if os.path.exists(path):
        for line in open(path):
            w = line.split()
            done.add((w[0], tuple(float(v) for v in w[2:2 + len(w[1])])))
    jobs = []
    for row, (names, kinds, f, _) in enumerate(main.table()):
        if not re.fullmatch(sys.argv[3] if len(sys.argv) > 3 else ".*", names[0]) or names[0].startswith("discrete_range"):
            continue
        for i in range(number // FEWER if names[0] in ORDINARY else number):
            p = point(names[0], i) if names[0].rsplit("_", 1)[-1] in ("lpdf", "lpmf", "lcdf") else None
            if p and (kinds[0] == "i" or len(p) == 1 or p[0] != p[1]) and all(math.isfinite(v) for v in p) and all(k == "i" or v != 0 or j == len(p) - 1 for j, (k, v) in enumerate(zip(kinds, p))):
                if (names[0], tuple(float(v) for v in p)) not in done:
                    jobs.append((i, row, p))
    jobs = [job[1:] for job in sorted(jobs, key=lambda job: job[0])]
    print(len(jobs), "points to compute", file=sys.stderr)
    left = {}
    with open(path, "a") as out, concurrent.futures.ProcessPoolExecutor(int(os.environ.get("JOBS", "2"))) as pool:
        for name, why, lines in pool.map(compute, jobs, chunksize=4):
            for line in lines:
                out.write(line + "\n")
            out.flush()
            if why:
                left[name, why] = left.get((name, why), 0) + 1
    for (name, why), n in sorted(left.items()):
        print(name, n, "left out:", why, file=sys.stderr)
