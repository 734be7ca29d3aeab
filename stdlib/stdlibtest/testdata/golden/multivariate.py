#!/usr/bin/env python3
"""Writes points of the distributions of vectors and matrices at random arguments, with values and
first derivatives in high precision (mpmath). The i-th point of a function has size 1, 2, 3 or 8 (0
where it is allowed); every third point has an ill-conditioned matrix or a far tail, every fourth
extreme scales.

    /usr/bin/python3 multivariate.py FILE 12              # 12 points a function; resumable
    /usr/bin/python3 multivariate.py FILE 200 'wishart.*' # only functions whose name matches

A line is: name, kinds of the arguments, arguments, value, how far it moves, then for every derivative
its value and how far that moves. A kind is a letter and sizes: r a real, i an int, a3 an array of
ints, v3 a vector, w3 a row vector, m2x3 a matrix, s3 a symmetric matrix, c3 a correlation matrix, l3 a
lower triangle. Derivatives are by real arguments: by the elements of the lower triangle of s and l,
those of s along both elements; for c and k (a factor of a correlation matrix) those below the
diagonal, for k with it.

"How far it moves" is the largest change at MOVES points around, at which every number is another by
2**-53 of its size, and that of a symmetric matrix by as much of the root of its diagonal elements: what no
algorithm on doubles can be held to. What raises an error is left out, and counted."""
import concurrent.futures
import itertools
import math
import os
import random
import re
import signal
import sys
import mpmath
from mpmath import mp, mpf
import main

MOVES = 2
SECONDS = int(os.environ.get("SECONDS_A_POINT", "60"))
SIZES = (1, 2, 3, 8)


# Linear algebra on lists of rows.

def cholesky(a):
    n = len(a)
    l = [[mpf(0)] * n for _ in range(n)]
    for j in range(n):
        for i in range(j, n):
            s = a[i][j] - sum((l[i][k] * l[j][k] for k in range(j)), mpf(0))
            if i == j:
                if s <= 0:
                    raise ValueError("not positive definite")
                l[j][j] = mpmath.sqrt(s)
            else:
                l[i][j] = s / l[j][j]
    return l


def solve(l, b):
    """Lz = b."""
    z = []
    for i, row in enumerate(l):
        z.append((b[i] - sum((row[k] * z[k] for k in range(i)), mpf(0))) / row[i])
    return z


def transpose(a): return [list(r) for r in zip(*a)]


def times(a, b):
    bt = transpose(b)
    return [[sum((x * y for x, y in zip(r, c)), mpf(0)) for c in bt] for r in a]


def plus(a, b): return [[x + y for x, y in zip(r, s)] for r, s in zip(a, b)]


def half_log_det(l): return sum((mpmath.log(l[i][i]) for i in range(len(l))), mpf(0))


def distance(l, d): return sum((z * z for z in solve(l, d)), mpf(0))


def trace(l, m):
    """The trace of (LLᵀ)⁻¹ MMᵀ."""
    return sum((distance(l, column) for column in transpose(m)), mpf(0))


def minus(a, b): return [x - y for x, y in zip(a, b)]


def dot(a, b): return sum((x * y for x, y in zip(a, b)), mpf(0))


lgamma = mpmath.loggamma
log = mpmath.log
log2pi = lambda: log(2 * mp.pi)


# Log densities.

def normal(y, mu, l, scale=1):
    n = len(y)
    return -n * log2pi() / 2 + n * log(mpf(scale)) / 2 - half_log_det(l) - scale * distance(l, minus(y, mu)) / 2


def precision(y, mu, p):
    l, d = cholesky(p), minus(y, mu)
    return -len(y) * log2pi() / 2 + half_log_det(l) - dot(d, [dot(r, d) for r in p]) / 2


def student(y, nu, mu, l):
    k = len(y)
    return (lgamma((nu + k) / 2) - lgamma(nu / 2) - k * log(nu * mp.pi) / 2 - half_log_det(l)
            - (nu + k) / 2 * mpmath.log1p(distance(l, minus(y, mu)) / nu))


def process(y, l, w): return sum((normal(row, [mpf(0)] * len(row), l, s) for row, s in zip(y, w)), mpf(0))


def multigamma(k, x): return mpf(k * (k - 1)) / 4 * log(mp.pi) + sum((lgamma(x - mpf(j) / 2) for j in range(k)), mpf(0))


def wishart(lw, nu, ls):
    k = len(lw)
    return (-nu * k * log(mpf(2)) / 2 - multigamma(k, nu / 2) - nu * half_log_det(ls) - trace(ls, lw) / 2
            + (nu - k - 1) * half_log_det(lw))


def inv_wishart(lw, nu, ls):
    k = len(lw)
    return (-nu * k * log(mpf(2)) / 2 - multigamma(k, nu / 2) + nu * half_log_det(ls) - trace(lw, ls) / 2
            - (nu + k + 1) * half_log_det(lw))


def of_factor(f):
    """With the Jacobian of W = LLᵀ."""
    return lambda l, nu, s: f(l, nu, s) + len(l) * log(mpf(2)) + sum((len(l) - i) * log(l[i][i]) for i in range(len(l)))


def lkj(half, eta, k):
    n = k - 1
    c = n * lgamma(eta + mpf(n) / 2) - sum((i * log(mp.pi) / 2 + lgamma(eta + mpf(n - i) / 2) for i in range(1, n + 1)), mpf(0))
    return c + 2 * (eta - 1) * half


def lkj_factor(l, eta):
    k = len(l)
    c = lkj(mpf(0), eta, k)
    return c + sum(((k - i - 1 + 2 * eta - 2) * log(l[i][i]) for i in range(1, k)), mpf(0))


def lkj_cov(y, mu, sigma, eta):
    k = len(y)
    sd = [mpmath.sqrt(y[i][i]) for i in range(k)]
    r = [[y[i][j] / sd[i] / sd[j] for j in range(k)] for i in range(k)]
    margins = sum((-log2pi() / 2 - log(s) - log(d) - ((log(d) - m) / s) ** 2 / 2 for d, m, s in zip(sd, mu, sigma)), mpf(0))
    return margins + lkj(half_log_det(cholesky(r)), eta, k)


def power(e, x): return mpf(0) if e == 0 else e * log(x) if x != 0 else mpf("-inf") * e


def dirichlet(x, a): return lgamma(sum(a)) - sum(lgamma(v) for v in a) + sum(power(v - 1, t) for v, t in zip(a, x))


def ways(ns): return lgamma(mpf(sum(ns)) + 1) - sum((lgamma(mpf(n) + 1) for n in ns), mpf(0))


def multinomial(ns, p): return ways(ns) + sum((power(mpf(n), x) for n, x in zip(ns, p)), mpf(0))


def log_softmax(x):
    m = max(x)
    s = m + log(sum(mpmath.exp(v - m) for v in x))
    return [v - s for v in x]


def multinomial_logit(ns, x): return ways(ns) + sum((n * v for n, v in zip(ns, log_softmax(x))), mpf(0))


def dirichlet_multinomial(ns, a):
    n, t = sum(ns), sum(a)
    return ways(ns) + lgamma(t) - lgamma(t + n) + sum((lgamma(v + k) - lgamma(v) for v, k in zip(a, ns)), mpf(0))


def log_inv_logit(x): return -mpmath.log1p(mpmath.exp(-x)) if x > 0 else x - mpmath.log1p(mpmath.exp(x))


def ordered(upper, width):
    """upper: the log of the distribution function; width: the log of the mass between."""
    def f(y, eta, c):
        if y == len(c) + 1:
            return upper(eta - c[-1]) if c else mpf(0)
        return upper(c[0] - eta) if y == 1 else width(c[y - 2] - eta, c[y - 1] - eta)
    return f


def logistic_width(a, b): return b - a and log_inv_logit(b) + log_inv_logit(-a) + log(-mpmath.expm1(a - b))


def log_phi(x): return log(mpmath.erfc(-x / mpmath.sqrt(2)) / 2)


def normal_width(a, b):
    if a > 0:
        a, b = -b, -a
    r = mpmath.sqrt(2)
    return log((mpmath.erfc(-b / r) - mpmath.erfc(-a / r)) / 2)


ordered_logistic = ordered(log_inv_logit, logistic_width)
ordered_probit = ordered(log_phi, normal_width)


def glm(mass):
    def f(y, *a):
        x, alpha, beta, rest = a[0], a[1], a[2], a[3:]
        return sum((mass(n, at + dot(row, beta), *rest) for n, row, at in zip(y, x, alpha)), mpf(0))
    return f


def bernoulli(y, e): return log_inv_logit(e if y else -e)


def poisson(y, e): return y * e - mpmath.exp(e) - lgamma(mpf(y) + 1)


def negative(y, e, phi):
    return (lgamma(y + phi) - lgamma(phi) - lgamma(mpf(y) + 1) + y * (e - log(phi)) - (y + phi) * mpmath.log1p(mpmath.exp(e - log(phi))))


def gauss(y, e, s): return -log2pi() / 2 - log(s) - ((y - e) / s) ** 2 / 2


def binomial(y, n, x, alpha, beta):
    return sum((lgamma(mpf(m) + 1) - lgamma(mpf(k) + 1) - lgamma(mpf(m - k) + 1) + k * log_inv_logit(e) + (m - k) * log_inv_logit(-e)
                for k, m, e in ((k, m, at + dot(r, beta)) for k, m, r, at in zip(y, n, x, alpha))), mpf(0))


def categorical_glm(y, x, alpha, beta):
    return sum((log_softmax([a + dot(r, c) for a, c in zip(alpha, transpose(beta))])[k - 1] for k, r in zip(y, x)), mpf(0))


def ordered_glm(y, x, beta, c): return sum((ordered_logistic(k, dot(r, beta), c) for k, r in zip(y, x)), mpf(0))


def successes(counts):
    """The Poisson-binomial distribution, summed over all outcomes of the trials."""
    def f(y, p):
        total = mpf(0)
        for outcome in itertools.product((0, 1), repeat=len(p)):
            if counts(sum(outcome), y):
                total += mpmath.fprod(v if o else 1 - v for v, o in zip(p, outcome))
        return log(total)
    return f


def hmm(omega, gamma, rho):
    a = [[r * mpmath.exp(o[0]) for r, o in zip(rho, omega)]]
    for t in range(1, len(omega[0])):
        a = times(a, gamma)
        a = [[x * mpmath.exp(o[t]) for x, o in zip(a[0], omega)]]
    return log(sum(a[0]))


def dlm(y, F, G, V, W, m0, C0):
    """The joint normal density of all observations, without a filter."""
    m, C, ft = [[v] for v in m0], C0, transpose(F)
    means, states = [], []
    for _ in y[0]:
        m, C = times(G, m), plus(times(times(G, C), transpose(G)), W)
        means += [r[0] for r in times(ft, m)]
        states.append(C)
    T, r = len(y[0]), len(y)
    cov = [[mpf(0)] * (r * T) for _ in range(r * T)]
    for s in range(T):
        P = times(states[s], F)  # of state s with observation s; state t is G**(t-s) of it
        for t in range(s, T):
            block = times(ft, P)
            for i in range(r):
                for j in range(r):
                    v = block[i][j] + (V[i][j] if s == t else 0)
                    cov[t * r + i][s * r + j] = cov[s * r + j][t * r + i] = v
            P = times(G, P)
    return normal([y[i][t] for t in range(T) for i in range(r)], means, cholesky(cov))


def dlm_diagonal(y, F, G, V, *rest):
    return dlm(y, F, G, [[v if i == j else mpf(0) for j in range(len(V))] for i, v in enumerate(V)], *rest)


# Random arguments.

class Draw:
    def __init__(self, name, i):
        self.rng = random.Random(f"{name} {i}")
        self.n = SIZES[i % 4]
        self.ill, self.extreme = i % 3 == 1, i % 4 == (i // 4) % 4

    def z(self): return self.rng.gauss(0, 1)

    def size(self, e=None):
        """A positive number."""
        return 10 ** self.rng.uniform(*((-1, 1) if e is None else (-e, e)))

    def scale(self): return self.size(60) if self.extreme else self.size()

    def real(self): return self.rng.choice((-1, 1)) * self.size(6 if self.extreme else 1)

    def vector(self, n): return [self.z() * (self.size(3) if self.ill else 1) for _ in range(n)]

    def matrix(self, n, m): return [self.vector(m) for _ in range(n)]

    def factor(self, n, unit=False):
        """A lower triangle; its rows have norm 1 if unit."""
        small, thin = 10 ** self.rng.uniform(-6, -3) if self.ill else 1, self.rng.randrange(max(n, 1))
        l = [[self.z() if j < i else 0.0 for j in range(n)] for i in range(n)]
        for i in range(n):
            l[i][i] = math.exp(0.3 * self.z()) * (small if i == thin else 1)
            s = math.sqrt(sum(v * v for v in l[i])) if unit else self.size(4) if self.extreme else 1
            l[i] = [v / s for v in l[i]]
        s = 1 if unit else self.scale()
        return [[v * s for v in r] for r in l]

    def covariance(self, n):
        mp.dps = 40
        l = [[mpf(v) for v in r] for r in self.factor(n)]
        a = [[float(v) for v in r] for r in times(l, transpose(l))]
        return [[a[max(i, j)][min(i, j)] for j in range(n)] for i in range(n)]

    def correlation(self, n):
        mp.dps = 40
        l = [[mpf(v) for v in r] for r in self.factor(n, True)]
        a = [[float(v) for v in r] for r in times(l, transpose(l))]
        return [[1.0 if i == j else a[max(i, j)][min(i, j)] for j in range(n)] for i in range(n)]

    def near(self, l):
        """A location, and a variate that is some standard deviations away."""
        n, far = len(l), self.rng.choice((1e4, 40)) if self.ill else 1
        z = [self.z() * far for _ in range(n)]
        d = [sum(l[i][k] * z[k] for k in range(i + 1)) for i in range(n)]
        mu = [self.z() * abs(v) for v in d]
        return [m + v for m, v in zip(mu, d)], mu

    def simplex(self, n, zeros=False):
        e = [math.exp(self.z() * (200 if self.extreme else 10 if self.ill else 1)) for _ in range(n)]
        if zeros and n > 1 and self.rng.random() < 0.3:
            e[self.rng.randrange(n)] = 0.0
        return [v / sum(e) for v in e]

    def count(self): return int(10 ** self.rng.uniform(0, 9 if self.extreme else 3)) - 1

    def cuts(self, n):
        out = [self.z() * 2]
        for _ in range(n - 1):
            out.append(out[-1] + self.size(3 if self.ill else 1))
        s = self.size(3) if self.extreme else 1
        return [v * s for v in out[:n]]

    def logit(self): return self.z() * (self.size(2) * 10 if self.extreme else 30 if self.ill else 2)

    def degrees(self, least):
        return least + 10 ** self.rng.uniform(-8 if self.ill else 0, 12 if self.extreme else 2)


def factors(a):
    mp.dps = 40
    return [[float(v) for v in r] for r in cholesky([[mpf(v) for v in r] for r in a])]


def invert(a):
    mp.dps = 60
    m = mpmath.matrix([[mpf(v) for v in r] for r in a]) ** -1
    n = len(a)
    return [[float(m[max(i, j), min(i, j)]) for j in range(n)] for i in range(n)]


def normals(kind, t=False):
    def f(d):
        l = d.factor(d.n)
        if kind == "s":
            l = d.covariance(d.n)
        y, mu = d.near(factors(l) if kind == "s" else l)
        if kind == "p":
            l = invert(times(l, transpose(l)))
        nu = [("r", 10 ** d.rng.uniform(*((-3, 14) if d.extreme else (-1, 3))))] if t else []
        return [("v", y)] + nu + [("v", mu), ("l" if kind == "l" else "s", l)]
    return f


def processes(kind):
    def f(d):
        a = d.covariance(d.n) if kind == "s" else d.factor(d.n)
        l = factors(a) if kind == "s" else a
        return [("m", [d.near(l)[0] for _ in range(2)]), (kind, a), ("v", [d.size(8 if d.extreme else 1) for _ in range(2)])]
    return f


def wisharts(kind, inverse):
    def f(d):
        nu = d.degrees(d.n - 1)
        s = d.factor(d.n)
        far = d.size(3) if d.ill else 1
        a = [[d.z() if j < i else math.sqrt(2 * d.rng.gammavariate((nu - i) / 2, 1)) if i == j else 0.0 for j in range(d.n)] for i in range(d.n)]
        a = [[v if i != j else max(v, 1e-3) for j, v in enumerate(r)] for i, r in enumerate(a)]
        if inverse:  # a factor with about the right scale
            a = [[v / max(nu, 1) for v in r] for r in a]
        w = [[far * sum(s[i][k] * a[k][j] for k in range(d.n)) if j <= i else 0.0 for j in range(d.n)] for i in range(d.n)]
        if kind == "s":
            mp.dps = 40
            square = lambda l: (lambda m: [[float(m[max(i, j)][min(i, j)]) for j in range(d.n)] for i in range(d.n)])(
                times(*(lambda b: (b, transpose(b)))([[mpf(v) for v in r] for r in l])))
            w, s = square(w), square(s)
        return [(kind, w), ("r", nu), (kind, s)]
    return f


def predictor(d, outcome, *rest):
    rows, columns = 3, d.n
    x = d.matrix(rows, columns)
    beta = [d.logit() / math.sqrt(columns) for _ in range(columns)]
    alpha = d.vector(rows)
    e = [a + sum(p * q for p, q in zip(r, beta)) for a, r in zip(alpha, x)]
    return x, alpha, beta, [outcome(v) for v in e]


def small(d, e): return int(min(2e9, math.exp(min(e, 21)) * d.rng.gammavariate(1, 1)))


def linear(outcome, *rest):
    def f(d):
        x, alpha, beta, y = predictor(d, lambda e: outcome(d, e))
        return [("a" if isinstance(y[0], int) else "v", y), ("m", x), ("v", alpha), ("v", beta)] + [("r", r(d)) for r in rest]
    return f


def trials(d):
    x, alpha, beta, n = predictor(d, lambda e: d.count())
    return [("a", [d.rng.randint(0, k) for k in n]), ("a", n), ("m", x), ("v", alpha), ("v", beta)]


def choices(d):
    k = d.n
    return [("a", [d.rng.randint(1, k) for _ in range(3)]), ("m", d.matrix(3, 2)), ("v", [d.logit() for _ in range(k)]),
            ("m", [[d.logit() for _ in range(k)] for _ in range(2)])]


def ranks(d):
    c = d.cuts(d.n)
    return [("a", [d.rng.randint(1, d.n + 1) for _ in range(3)]), ("m", d.matrix(3, 2)), ("v", [d.logit() for _ in range(2)]), ("v", c)]


def rank(d, far):
    c = d.cuts(d.n)
    return [("i", d.rng.randint(1, d.n + 1)), ("r", c[0] + d.z() * d.rng.choice((1, 1, far))), ("v", c)]


def chains(d):
    k, T = d.n, d.rng.choice((1, 2, 5))
    return [("m", [[d.z() * (100 if d.extreme else 30 if d.ill else 1) for _ in range(T)] for _ in range(k)]),
            ("m", [d.simplex(k, True) for _ in range(k)]), ("v", d.simplex(k, True))]


def states(diagonal):
    def f(d):
        n, r, T = min(d.n, 3), min(d.n, 2), 4
        s = d.scale() if d.extreme else 1
        sym = lambda k, c: [[v * c for v in row] for row in (lambda m: [[max(m[i][j], m[j][i], key=abs) for j in range(k)] for i in range(k)])(
            [[a for a in q] for q in factorless(d, k)])]
        y = [[s * d.z() * 3 for _ in range(T)] for _ in range(r)]
        V = [s * s * d.size() for _ in range(r)] if diagonal else sym(r, s * s)
        return [("m", y), ("m", [[d.z() for _ in range(r)] for _ in range(n)]), ("m", [[d.z() / math.sqrt(n) for _ in range(n)] for _ in range(n)]),
                ("v" if diagonal else "s", V), ("s", sym(n, s * s * (1e-6 if d.ill else 1))), ("v", [s * d.z() for _ in range(n)]), ("s", sym(n, s * s * (1e6 if d.ill else 1)))]
    return f


def factorless(d, k):
    """A covariance of ordinary size."""
    l = [[d.z() if j < i else math.exp(0.3 * d.z()) if i == j else 0.0 for j in range(k)] for i in range(k)]
    return [[sum(a * b for a, b in zip(p, q)) for q in l] for p in l]


def cov_lkj(d):
    a = d.covariance(d.n)
    sd = [math.log(a[i][i]) / 2 for i in range(d.n)]
    return [("s", a), ("v", [v + d.z() for v in sd]), ("v", [d.size() for _ in sd]), ("r", d.size(8 if d.extreme else 1))]


def chances(d):
    p = [1 / (1 + math.exp(-d.logit())) for _ in range(d.n)]
    return [("i", d.rng.randint(0, d.n)), ("v", p)]


rows = {
    "multi_normal_lpdf": (normals("s"), lambda y, mu, s: normal(y, mu, cholesky(s))),
    "multi_normal_cholesky_lpdf": (normals("l"), normal),
    "multi_normal_prec_lpdf": (normals("p"), precision),
    "multi_student_t_lpdf": (normals("s", True), lambda y, nu, mu, s: student(y, nu, mu, cholesky(s))),
    "multi_student_t_cholesky_lpdf": (normals("l", True), student),
    "multi_gp_lpdf": (processes("s"), lambda y, s, w: process(y, cholesky(s), w)),
    "multi_gp_cholesky_lpdf": (processes("l"), process),
    "wishart_lpdf": (wisharts("s", False), lambda w, nu, s: wishart(cholesky(w), nu, cholesky(s))),
    "wishart_cholesky_lpdf": (wisharts("l", False), of_factor(wishart)),
    "inv_wishart_lpdf": (wisharts("s", True), lambda w, nu, s: inv_wishart(cholesky(w), nu, cholesky(s))),
    "inv_wishart_cholesky_lpdf": (wisharts("l", True), of_factor(inv_wishart)),
    "lkj_corr_lpdf": (lambda d: [("c", d.correlation(d.n)), ("r", d.size(8 if d.extreme else 1))], lambda r, eta: lkj(half_log_det(cholesky(r)), eta, len(r))),
    "lkj_corr_cholesky_lpdf": (lambda d: [("k", d.factor(d.n, True)), ("r", d.size(8 if d.extreme else 1))], lkj_factor),
    "lkj_cov_lpdf": (cov_lkj, lkj_cov),
    "dirichlet_lpdf": (lambda d: [("v", d.simplex(d.n)), ("v", [d.size(14 if d.extreme else 4 if d.ill else 1) for _ in range(d.n)])], dirichlet),
    "dirichlet_multinomial_lpmf": (lambda d: [("a", [d.count() for _ in range(d.n)]), ("v", [d.size(14 if d.extreme else 4 if d.ill else 1) for _ in range(d.n)])], dirichlet_multinomial),
    "multinomial_lpmf": (lambda d: (lambda p: [("a", [0 if v == 0 else d.count() for v in p]), ("v", p)])(d.simplex(d.n, True)), multinomial),
    "multinomial_logit_lpmf": (lambda d: [("a", [d.count() for _ in range(d.n)]), ("v", [d.logit() for _ in range(d.n)])], multinomial_logit),
    "categorical_lpmf": (lambda d: [("i", d.rng.randint(1, d.n)), ("v", d.simplex(d.n))], lambda y, p: log(p[y - 1])),
    "categorical_logit_lpmf": (lambda d: [("i", d.rng.randint(1, d.n)), ("v", [d.logit() for _ in range(d.n)])], lambda y, x: log_softmax(x)[y - 1]),
    "ordered_logistic_lpmf": (lambda d: rank(d, 700), ordered_logistic),
    "ordered_probit_lpmf": (lambda d: rank(d, 40), ordered_probit),
    "bernoulli_logit_glm_lpmf": (linear(lambda d, e: d.rng.randrange(2)), glm(bernoulli)),
    "poisson_log_glm_lpmf": (linear(small), glm(poisson)),
    "neg_binomial_2_log_glm_lpmf": (linear(small, lambda d: d.size(14 if d.extreme else 1)), glm(negative)),
    "normal_id_glm_lpdf": (linear(lambda d, e: e + d.z(), lambda d: d.size(8 if d.extreme else 1)), glm(gauss)),
    "binomial_logit_glm_lpmf": (trials, binomial),
    "categorical_logit_glm_lpmf": (choices, categorical_glm),
    "ordered_logistic_glm_lpmf": (ranks, ordered_glm),
    "hmm_marginal": (chains, hmm),
    "poisson_binomial_lpmf": (chances, successes(lambda n, y: n == y)),
    "poisson_binomial_lcdf": (chances, successes(lambda n, y: n <= y)),
    "poisson_binomial_lccdf": (chances, successes(lambda n, y: n > y)),
    "gaussian_dlm_obs_lpdf": (states(False), dlm),
    "gaussian_dlm_obs_lpdf ": (states(True), dlm_diagonal),
}


# Computation.

def kind_of(k, v):
    return k if k in "ri" else f"{k}{len(v)}x{len(v[0])}" if k == "m" else f"{k}{len(v)}"


def flat(v): return [x for e in v for x in flat(e)] if isinstance(v, list) else [v]


def directions(args):
    """Of every derivative: argument, and the elements that move together."""
    for n, (k, v) in enumerate(args):
        if k == "r":
            yield n, [()]
        elif k in "vw":
            yield from ((n, [(i,)]) for i in range(len(v)))
        elif k == "m":
            yield from ((n, [(i, j)]) for i in range(len(v)) for j in range(len(v[0])))
        elif k in "lksc":
            for i in range(len(v)):
                for j in range(i + (k != "c")):
                    yield n, [(i, j)] if i == j or k in "lk" else [(i, j), (j, i)]


def get(v, at):
    for i in at:
        v = v[i]
    return v


def moved(values, n, ats, by):
    out = list(values)
    if ats == [()]:
        out[n] = out[n] + by
    elif len(ats[0]) == 1:
        out[n] = list(out[n])
        out[n][ats[0][0]] += by
    else:
        out[n] = [list(r) for r in out[n]]
        for i, j in ats:
            out[n][i][j] += by
    return out


def step_of(args, values, n, at):
    """The size of an element, in a symmetric matrix that of the diagonal."""
    if args[n][0] in "sc":
        return mpmath.sqrt(abs(values[n][at[0]][at[0]] * values[n][at[1]][at[1]]))
    v = abs(get(values[n], at))
    return v if v != 0 else max([abs(x) for x in flat(values[n])] + [mpf("1e-300")]) if args[n][0] != "r" else mpf(1)


def numbers(args, f, values):
    h = mpf(10) ** -(mp.dps // 3)
    out = [f(*values)]
    for n, ats in directions(args):
        s = step_of(args, values, n, ats[0]) * h
        out.append((f(*moved(values, n, ats, s)) - f(*moved(values, n, ats, -s))) / (2 * s))
    return [mpmath.re(v) for v in out]


def exact(v, k): return [exact(e, k) for e in v] if isinstance(v, list) else mpf(v) if k not in "ai" else v


def point(name, i):
    args = rows[name][0](Draw(name, i))
    return [(k, v) for k, v in args]


def compute(job):
    name, i, args = job
    f = rows[name][1]
    signal.signal(signal.SIGALRM, main_late)
    signal.alarm(SECONDS)
    try:
        values = [exact(v, k) for k, v in args]
        got = []
        for digits in (90, 150):
            mp.dps = digits
            got.append(numbers(args, f, values))
        mp.dps = 40
        if any(mpmath.isnan(v) or mpmath.isinf(v) for v in got[1]):
            return name, "not finite", ""
        if any(abs(a - b) > mpf(10) ** -15 * abs(b) and abs(b) > mpf(10) ** -300 for a, b in zip(*got)):
            return name, "does not settle", ""
        rng, by = random.Random(f"{name} {i} moves"), [mpf(0)] * len(got[1])
        mp.dps = 90
        for _ in range(MOVES):
            v = values
            for n, ats in directions(args):
                if get(values[n], ats[0]) != 0:
                    v = moved(v, n, ats, step_of(args, values, n, ats[0]) * rng.choice((-1, 1)) * mpf(2) ** -53)
            by = [max(b, abs(x - y)) for b, x, y in zip(by, numbers(args, f, v), got[0])]
        text = [main.number(v) for k, a in args for v in flat(a)]
        for v, b in zip(got[1], by):
            text += [main.number(v), f"{float(b):.0e}"]
        return name, "", " ".join([name.strip(), ",".join(kind_of(k, v) for k, v in args)] + text)
    except Exception as e:
        return name, type(e).__name__ + " " + str(e)[:60], ""
    finally:
        signal.alarm(0)


def main_late(*_): raise TimeoutError("takes too long")


if __name__ == "__main__":
    path, number = sys.argv[1], int(sys.argv[2])
    done = set()
    if os.path.exists(path):
        for line in open(path):
            w = line.split()
            if w[0] != "#":
                done.add((w[0], w[1], tuple(float(v) for v in w[2:6])))
    jobs = []
    for i in range(number):
        for name in rows:
            if not re.fullmatch(sys.argv[3] if len(sys.argv) > 3 else ".*", name.strip()):
                continue
            try:
                args = point(name, i)
            except (OverflowError, ZeroDivisionError, ValueError):
                continue
            key = (name.strip(), ",".join(kind_of(k, v) for k, v in args), tuple(float(v) for k, a in args for v in flat(a))[:4])
            if len(key[2]) == 4 and key in done:
                continue
            jobs.append((name, i, args))
    print(len(jobs), "points to compute", file=sys.stderr)
    left = {}
    with open(path, "a") as out, concurrent.futures.ProcessPoolExecutor(int(os.environ.get("JOBS", "2"))) as pool:
        if not done:
            out.write("# Written by multivariate.py. Do not edit.\n")
        for name, why, line in pool.map(compute, jobs):
            if line:
                out.write(line + "\n")
                out.flush()
            else:
                left[name, why] = left.get((name, why), 0) + 1
    for (name, why), n in sorted(left.items()):
        print(name, n, "left out:", why, file=sys.stderr)
