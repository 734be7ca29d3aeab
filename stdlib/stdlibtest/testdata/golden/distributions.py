"""Log densities and log tails of the distributions, and the points at which they are
computed. Formulas are those of the handbooks.

A row: the kinds of the arguments ("r" real, "i" int), the log density, both log tails (or
None), and points, ordinary ones first. Points of densities only are after a None."""
from special import *


def N(y, m, s): return -((y - m) / s) ** 2 / 2 - log(s) - log(2 * pi) / 2


def nb(n, r, p, q):
    """n failures of probability q = 1 - p before r successes"""
    return lg(n + r) - lg(r) - lg(n + 1) + r * log(p) + xlogy(n, q)


def nb_tails(n, r, p, q):
    return beta_tails(p, q, r, n + 1)


def sums(first, ratio, high=None):
    """Tails of counts, from the log mass at 0 and the ratio of the mass at k+1 to that at k;
    high is the greatest count."""
    def tails(y, *p):
        mass, left, right = exp(first(mpf(0), *p)), mpf(0), mpf(0)
        for k in range(int(y if high is None else high(*p)) + 1):
            if k <= y:
                left += mass
            else:
                right += mass
            mass *= ratio(k, *p)
        if high is None:
            return log(left), log1p(-left)
        return log(left), log(right) if right else NEG
    return tails


def laplace(z):
    return both(-abs(z) - log(mpf(2)), z < 0)


def cauchy(z):
    return both(log(atan2(mpf(1), abs(z)) / pi), z < 0)


def exmod(y, m, s, l):
    z, v = (y - m) / s, l * s
    def tail(z):
        return erfc(-z / sqrt(mpf(2))) / 2
    with workdps(mp.dps + 40):
        e = exp(v * v / 2 - v * z) * tail(z - v)
        return log(tail(z) - e), log(tail(-z) + e)


def skew_laplace(y, m, s, t):
    z = (y - m) / s
    return both(log(t) + 2 * (1 - t) * z, True) if z < 0 else both(log1p(-t) - 2 * t * z, False)


def beta_binomial(n, N, a, b): return lbinom(N, n) + lbeta(n + a, N - n + b) - lbeta(a, b)


def beta_neg_binomial(n, r, a, b): return lbeta(n + r, a + b) - lbeta(r, a) + lg(n + b) - lg(n + 1) - lg(b)


def line(*zs, at=((0, 1),), rest=()):
    """Points mu + z*sigma, then those as they are."""
    return [(z * s + m, m, s) + tuple(rest) for m, s in at for z in zs]


extreme = ((1e6, 1e-3), (0, 1e-120), (0.1, 1e120))
on_line = line(0.5, -1.25, 3, -6, 8.5, -38.7, 38.7, 1e-9, -700, 1e4, -1e8) + line(0.5, -2, 7, at=extreme)
heavy = on_line + [(1e60, 1, 2), (-1e60, 1, 2)]
shapes = [(0.5, 2, 3), (3, 2.5, 0.7), (1e-8, 2, 3), (40, 2, 3), (300, 2, 3), (0.3, 0.01, 1), (1e-100, 1e-3, 1), (30, 0.2, 0.5),
          (20, 10, 1), (95, 100, 1), (150, 100, 1), (2, 100, 1), (9.9e5, 1e6, 1), (1.004e6, 1e6, 1), (1.1e6, 1e6, 1), (8e5, 1e6, 1),
          (3e-3, 1e-8, 2), (1e10, 5, 1e-9), (1e-150, 3, 1e150), (1e150, 3, 1e-150), (0.7, 50, 1), (1e-3, 1, 1), (5, 1e-5, 1), (1200, 1e3, 1.2)]


def inverse(pts): return [(1.0 / y,) + p for y, *p in pts for p in [tuple(p)]]


betas = [(0.3, 2, 3), (0.9, 0.5, 0.5), (0.01, 0.5, 0.5), (1e-10, 3, 0.2), (1e-100, 2, 5), (1 - 2.0**-40, 3, 0.5), (0.5, 100, 120), (0.3, 100, 120), (0.7, 100, 120),
         (0.999, 2, 30), (0.2, 1e3, 4e3), (0.25, 1e3, 4e3), (0.15, 1e3, 4e3), (0.7, 20, 0.5), (0.25, 1e-3, 5), (0.25, 5, 1e-3), (0.5, 1e-6, 1e-6),
         (0.5, 1e5, 1e5), (0.502, 1e5, 1e5), (0.45, 1e5, 1e5), (1e-5, 1, 1e5), (1e-3, 1, 1e5), (2e-6, 3, 1e6), (0.999999, 1e6, 2), (0.3, 1, 1), (0.8, 1, 7)]
probability = [(3, 10, 0.3), (0, 10, 0.3), (9, 10, 0.3), (0, 1000, 1e-3), (0, 1000, 1e-9), (2, 1000, 1e-9), (500, 1000, 0.5), (400, 1000, 0.5), (620, 1000, 0.5),
               (900, 1000, 0.5), (50, 1000, 0.5), (3, 1000, 0.999), (0, 1000000, 1e-12), (3, 1000000, 1e-6), (300000, 1000000, 0.3), (302000, 1000000, 0.3), (290000, 1000000, 0.3)]

rows = {
    "normal": ("r rr", N, lambda y, m, s: normal((y - m) / s), on_line),
    "std_normal": ("r", lambda y: N(y, mpf(0), mpf(1)), normal, [(z,) for z in (0.5, -1.25, 3, -6, 8.5, -38.7, 38.7, 1e-9, -700, 1e4, -1e8, -5.2, 5.2, 0.0, -20, 20)]),
    "student_t": ("r rrr", lambda y, n, m, s: lg((n + 1) / 2) - lg(n / 2) - log(n * pi) / 2 - log(s) - (n + 1) / 2 * log1p(((y - m) / s) ** 2 / n),
                  lambda y, n, m, s: student((y - m) / s, n),
                  [(y, n, m, s) for n in (4, 0.5, 35) for y, m, s in line(0.5, -1.25, 3, -6, 38.5, -1e4, 1e-9)] + [(-1e60, 3, 1, 2), (1e60, 0.3, 1, 2), (-2, 1e4, 0, 1), (-8, 1e4, 0, 1), (30, 1e4, 0, 1),
                   (-1.5, 1e6, 0, 1), (-20, 1e6, 0, 1), (2, 0.01, 0, 1), (-1e8, 0.01, 0, 1), (1000000.5, 3, 1e6, 1e-3), (1e120, 3, 0.1, 1e120), (-1e-120, 7, 0, 1e-120), (-3, 1, 0, 1), (1e10, 1, 0, 1), (-40, 500, 0, 1), (-1e3, 100, 0, 1), None, (5, 1e10, 1, 2), (2, 1e15, 0, 1)]),
    "cauchy": ("r rr", lambda y, m, s: -log(pi) - log(s) - log1p(((y - m) / s) ** 2), lambda y, m, s: cauchy((y - m) / s), heavy),
    "double_exponential": ("r rr", lambda y, m, s: -abs(y - m) / s - log(2 * s), lambda y, m, s: laplace((y - m) / s), on_line),
    "logistic": ("r rr", lambda y, m, s: -(y - m) / s - log(s) - 2 * log1pexp(-(y - m) / s), lambda y, m, s: (-log1pexp(-(y - m) / s), -log1pexp((y - m) / s)), on_line),
    "gumbel": ("r rr", lambda y, m, b: -(y - m) / b - exp(-(y - m) / b) - log(b), lambda y, m, b: both(-exp(-(y - m) / b), True),
               line(0.5, -1.25, 3, -6, 40, 700, 1e-9) + line(0.5, -2, 7, at=extreme)),
    "von_mises": ("r rr", lambda y, m, k: k * cos(y - m) - log(2 * pi * besseli(0, k)), lambda y, m, k: angles(y, m, k),
                  [(0.5, 0.2, 2), (-2, 0.2, 2), (3, 0.2, 2), (1, -2, 0.5), (-3, 3, 8), (0.3, 7, 3), (0.5, 0, 1e-3), (-1.5, 1, 60), (0.9, 1, 60), (2.9, 1, 60), (-0.05, 0, 1e3), (0.2, 0, 1e3), (1.2, 0, 1e3), (0.5, 100.0, 4), None, (0.1, 0, 1e5), (2, 0, 1e6), (1, 0, 1e-8)]),
    "lognormal": ("r rr", lambda y, m, s: N(log(y), m, s) - log(y), lambda y, m, s: normal((log(y) - m) / s), [(0.5, 0, 1), (2, -1, 0.3), (1e-150, 3, 5), (1e200, 1, 30), (1e300, 0, 2), (1e-150, 0, 2), (1.0000001, 0, 1e-3), (50, 0, 0.01), (1e-3, 0, 0.05)]),
    "exponential": ("r r", lambda y, b: log(b) - b * y, lambda y, b: both(-b * y, False), [(2, 1), (0.5, 3), (1e-12, 2), (40, 1), (800, 1), (1e200, 1e-200), (1e-200, 1e-100), (0.69, 1), (0.7, 1)]),
    "gamma": ("r rr", lambda y, a, b: a * log(b) - lg(a) + (a - 1) * log(y) - b * y, lambda y, a, b: gamma_tails(a, b * y), shapes),
    "inv_gamma": ("r rr", lambda y, a, b: a * log(b) - lg(a) - (a + 1) * log(y) - b / y, lambda y, a, b: gamma_tails(a, b / y)[::-1], inverse(shapes)),
    "chi_square": ("r r", lambda y, n: -n / 2 * log(mpf(2)) - lg(n / 2) + (n / 2 - 1) * log(y) - y / 2, lambda y, n: gamma_tails(n / 2, y / 2),
                   [(2 * y * b, 2 * a) for y, a, b in shapes]),
    "inv_chi_square": ("r r", lambda y, n: -n / 2 * log(mpf(2)) - lg(n / 2) - (n / 2 + 1) * log(y) - 1 / (2 * y), lambda y, n: gamma_tails(n / 2, 1 / (2 * y))[::-1],
                       [(0.5 / (y * b), 2 * a) for y, a, b in shapes]),
    "scaled_inv_chi_square": ("r rr", lambda y, n, s: n / 2 * log(n / 2) - lg(n / 2) + n * log(s) - (n / 2 + 1) * log(y) - n * s * s / (2 * y), lambda y, n, s: gamma_tails(n / 2, n * s * s / (2 * y))[::-1],
                              [(0.5, 3, 2), (30, 3, 2), (1e-2, 3, 2), (1e6, 3, 2), (1e-3, 1e3, 0.03), (8e-4, 1e3, 0.03), (1.2e-3, 1e3, 0.03), (1e-100, 2, 1e-50), (1e100, 2, 1e50), (4, 0.01, 1), (0.5, 1e5, 0.7), (0.49, 1e6, 0.7)]),
    "weibull": ("r rr", lambda y, a, s: log(a) + (a - 1) * log(y) - a * log(s) - (y / s) ** a, lambda y, a, s: both(-(y / s) ** a, False),
                [(0.5, 2, 3), (4, 2, 3), (1e-100, 0.1, 1), (1.01, 500, 1), (0.99, 500, 1), (1e-8, 2, 3), (60, 2, 3), (1e100, 0.01, 1e-100), (2, 1e-5, 1), (1e150, 1, 1e150)]),
    "frechet": ("r rr", lambda y, a, s: log(a) - (a + 1) * log(y) + a * log(s) - (s / y) ** a, lambda y, a, s: both(-(s / y) ** a, True),
                [(0.5, 2, 3), (4, 2, 3), (1e100, 0.1, 1), (1.01, 500, 1), (0.99, 500, 1), (1e8, 2, 3), (0.1, 2, 3), (2, 1e-5, 1)]),
    "rayleigh": ("r r", lambda y, s: log(y) - 2 * log(s) - (y / s) ** 2 / 2, lambda y, s: both(-(y / s) ** 2 / 2, False), [(0.5, 2), (3, 2), (1e-100, 1), (50, 1), (1e-9, 1), (1e100, 1e100), (1e-120, 3e-120)]),
    "pareto": ("r rr", lambda y, m, a: log(a) + a * log(m) - (a + 1) * log(y), lambda y, m, a: both(a * log(m / y), False), [(2, 1, 3), (1.5, 1, 0.5), (1e100, 1e-100, 0.01), (1.0000001, 1, 3), (1e30, 1, 20), (3e-100, 1e-100, 5), (2, 1, 1e-8)]),
    "pareto_type_2": ("r rrr", lambda y, m, l, a: log(a) - log(l) - (a + 1) * log1p((y - m) / l), lambda y, m, l, a: both(-a * log1p((y - m) / l), False), [(2, 1, 3, 2), (7, -1, 0.5, 0.7), (1e-20, 0, 1, 5), (1e60, 0, 1e-60, 3), (3, 0, 1, 1e-8), (3, 2, 1e10, 1e9), (1e6, 0, 1, 1e4)]),
    "beta": ("r rr", lambda y, a, b: (a - 1) * log(y) + (b - 1) * log1p(-y) - lbeta(a, b), lambda y, a, b: beta_tails(y, 1 - y, a, b), betas),
    "beta_proportion": ("r rr", lambda y, m, k: (m * k - 1) * log(y) + (k - m * k - 1) * log1p(-y) - lbeta(m * k, k - m * k), lambda y, m, k: beta_tails(y, 1 - y, m * k, k - m * k),
                        [(y, a / (a + b), a + b) for y, a, b in betas[:20]] + [(0.3, 0.25, 3), (0.5, 1e-5, 1e3), (0.999, 0.999, 1e4)]),
    "uniform": ("r rr", lambda y, a, b: -log(b - a), lambda y, a, b: (log((y - a) / (b - a)), log((b - y) / (b - a))), [(0.3, -1, 2), (1, 0.5, 1e100), (1e-300, 0, 1), (1 - 2.0**-53, 0, 1), (1e6 + 1e-9, 1e6, 1e6 + 1), (0.25, 0, 1e-0)]),
    "skew_normal": ("r rrr", lambda y, m, s, a: log(mpf(2)) + N(y, m, s) + lPhi(a * (y - m) / s), lambda y, m, s, a: skew((y - m) / s, a),
                    [(0.3, 0, 1, 2), (-1.2, 0.5, 2, -3), (-10, 0, 1, 5), (3, 1, 2, -4), (-6, 0, 1, 0.5), (9, 0, 1, 3), (9, 0, 1, -3), (-30, 0, 1, 1), (0.5, 0, 1, 1e-8), (-3, 0, 1, 0.01), (0.7, 0, 1, 1e3), (-0.01, 0, 1, 1e3), (1e6, 1e6, 1e-3, 2), (30, 0, 1, 20), (-5, 0, 1, -50), None, (1e5, 0, 1, 3), (-1e5, 0, 1, 3)]),
    "exp_mod_normal": ("r rrr", lambda y, m, s, l: log(l) + l * (m - y) + (l * s) ** 2 / 2 + lPhi((y - m) / s - l * s), exmod,
                       [(0.3, 0, 1, 2), (-1, 0.5, 2, 0.3), (-10, 0, 1, 5), (30, 1, 2, 0.1), (-38, 0, 1, 0.5), (5, 0, 1, 1e3), (-5, 0, 1, 1e3), (0.5, 0, 1, 1e-6), (-4, 0, 1, 1e-6), (-20, 0, 1, 1e-3), (400, 0, 1, 3), (0.5, 0, 1e-3, 2), (-0.1, 0, 1e-3, 2), (1, 0, 1, 1e6), (50, 0, 1, 40), (0.3, 0, 1, 60), (12, 0, 1, 12), (-100, 0, 1, 1), (1e5, 0, 1, 1e-4)]),
    "skew_double_exponential": ("r rrr", lambda y, m, s, t: log(mpf(2)) + log(t) + log1p(-t) - log(s) - 2 * (((1 - t) * (m - y)) if y < m else (t * (y - m))) / s, skew_laplace,
                                [(0.3, 0, 1, 0.2), (-0.3, 0, 1, 0.2), (-1e3, 1, 2, 0.999), (1e3, 1, 2, 0.3), (1e-9, 0, 1, 0.5), (-1e-9, 0, 1, 1e-9), (2, 0, 1, 1e-9), (2, 0, 1, 1 - 1e-9), (1e120, 1, 1e120, 0.4)]),
    "loglogistic": ("r rr", lambda y, a, b: log(b) - log(a) + (b - 1) * log(y / a) - 2 * log1p((y / a) ** b), lambda y, a, b: (-log1pexp(-b * log(y / a)), -log1pexp(b * log(y / a))),
                    [(0.3, 1, 2), (4, 1.5, 0.7), (1e50, 3, 40), (1e-50, 3, 40), (3, 2.9999, 1e3), (2, 1, 1e-5), (1e120, 1e100, 2), (1e-120, 1e-100, 2)]),
    "bernoulli": ("i r", lambda n, t: log(t) if n else log1p(-t), lambda n, t: (log1p(-t), log(t)) if n == 0 else (mpf(0), NEG), [(1, 0.3), (0, 0.3), (1, 1e-300), (0, 1e-300), (0, 1 - 2.0**-53), (1, 1 - 2.0**-53)]),
    "bernoulli_logit": ("i r", lambda n, a: -log1pexp(-a if n else a), None, [(1, 0.3), (0, 0.3), (1, -800), (0, -800), (0, 40), (1, 40), (1, 1e10)]),
    "binomial": ("i ir", lambda n, N, t: lbinom(N, n) + xlogy(n, t) + (0 if n == N else (N - n) * log1p(-t)), lambda n, N, t: (mpf(0), NEG) if n == N else beta_tails(1 - t, t, N - n, n + 1),
                 probability + [None, (500000000, 1000000000, 0.5)]),
    "binomial_logit": ("i ir", lambda n, N, a: lbinom(N, n) - n * log1pexp(-a) - (N - n) * log1pexp(a), None, [(3, 10, 0.3), (10, 10, 50), (0, 7, -50), (3, 10, -700), (3, 10, 700), (300000, 1000000, -0.8473)]),
    "poisson": ("i r", lambda n, l: xlogy(n, l) - l - lg(n + 1), lambda n, l: gamma_tails(n + 1, l)[::-1],
                [(3, 2.5), (0, 1e-100), (0, 3), (0, 800), (5, 1e-50), (100, 2), (3, 100), (1000000, 1e6), (1003000, 1e6), (990000, 1e6), (1100000, 1e6), (900000, 1e6), (1, 1e-9), (300, 250), (50, 1e3)]),
    "poisson_log": ("i r", lambda n, a: n * a - exp(a) - lg(n + 1), None, [(3, 0.5), (0, -700), (1000000, 13.8), (0, 5), (2, 700), (7, -300)]),
    "neg_binomial": ("i rr", lambda n, a, b: nb(n, a, b / (1 + b), 1 / (1 + b)), lambda n, a, b: nb_tails(n, a, b / (1 + b), 1 / (1 + b)),
                     [(3, 2, 0.5), (0, 1e-10, 3), (3, 1e-10, 3), (1000, 1e6, 1e3), (0, 2, 1e-5), (100000, 2, 1e-5), (5000000, 2, 1e-5), (200, 3, 2), (4, 0.01, 0.01), (2, 1e5, 1e10), (1050, 1e6, 1e3), (900, 1e6, 1e3), (1000000, 1, 1e-6)]),
    "neg_binomial_2": ("i rr", lambda n, m, p: nb(n, p, p / (m + p), m / (m + p)), lambda n, m, p: nb_tails(n, p, p / (m + p), m / (m + p)),
                       [(3, 2.5, 0.5), (0, 3, 1e-6), (3, 3, 1e-8), (4, 3, 1e6), (100000, 1e5, 1e3), (110000, 1e5, 1e3), (90000, 1e5, 1e3), (2, 1e-8, 20), (0, 1e5, 3), (500, 3, 2), (1000000, 1e6, 1), (0, 1e-100, 2), None, (4, 3, 1e10), (0, 3, 1e-10), (4, 3, 1e15)]),
    "neg_binomial_2_log": ("i rr", lambda n, e, p: nb(n, p, p / (exp(e) + p), exp(e) / (exp(e) + p)), None, [(3, 0.9, 0.5), (4, 1.1, 1e10), (0, -40, 3), (7, 30, 2), (0, 300, 2), (1000000, 13.8, 5), (2, -300, 1e-3)]),
    "beta_binomial": ("i irr", beta_binomial, sums(beta_binomial, lambda k, N, a, b: (N - k) * (k + a) / ((k + 1) * (N - k - 1 + b)), lambda N, a, b: N),
                      [(3, 10, 2, 3), (0, 50, 30, 0.5), (40, 50, 0.1, 20), (49, 50, 0.5, 30), (2, 50, 30, 0.5), (50, 100, 1e8, 1e8), (20, 100, 1e8, 1e8), (0, 7, 1e-5, 1e5), (150, 300, 2, 3), (290, 300, 2, 3), (1, 3, 1e-9, 1e-9), (2, 3, 1e-9, 4), None, (300000, 1000000, 2, 5), (500, 1000000, 1e-3, 1)]),
    "beta_neg_binomial": ("i rrr", beta_neg_binomial, sums(beta_neg_binomial, lambda k, r, a, b: (k + r) * (k + b) / ((k + 1) * (k + r + a + b))),
                          [(3, 2.5, 4, 0.7), (300, 10, 3, 50), (0, 1e-3, 5, 2), (20, 1e6, 2e6, 3), (10, 2, 40, 0.5), (60, 2, 40, 0.5), (5, 1, 0.1, 1), (0, 5, 1e-6, 2), None, (1000000, 3, 0.7, 2), (1000, 10, 3, 50)]),
    "yule_simon": ("i r", lambda n, a: log(a) + lbeta(n, a + 1), lambda n, a: both(log(n) + lbeta(n, a + 1), False),
                   [(1, 2), (50, 0.3), (3, 1e-3), (10, 40), (1000000, 3), (7, 1e6), (1, 1e-8), (100, 500)]),
    "discrete_range": ("i ii", lambda n, a, b: -log(b - a + 1), lambda n, a, b: (log((n - a + 1) / (b - a + 1)), log((b - n) / (b - a + 1)) if n < b else NEG), [(3, 1, 6), (1, 1, 6), (6, 1, 6), (0, -1000000, 1000000), (-999999, -1000000, 1000000000)]),
    "wiener": ("r rrrr", lambda y, a, t, b, d: d * (a * (1 - b)) - d * d * (y - t) / 2 - 2 * log(a) + wiener((y - t) / a ** 2, 1 - b), None,
               [(1, 1.5, 0.2, 0.4, 0.5), (0.7, 2, 0.3, 0.6, -1), (3, 1, 0.1, 0.3, 2), (0.25, 1.5, 0.2, 0.4, 0.5), (0.2001, 1.5, 0.2, 0.4, 0.5), (20, 1, 0.2, 0.5, 0), (300, 1.5, 0.2, 0.5, 0.1), (1, 10, 0.2, 0.5, 3), (1, 1.5, 0.2, 0.01, 0.5), (1, 1.5, 0.2, 0.99, 0.5), (0.5, 1.5, 0.2, 0.999, -3), (1, 1.5, 1e-10, 0.4, 30), (0.6, 1, 0.2, 0.5, 0.5), (0.45, 0.8, 0.2, 0.5, 1)]),
}
