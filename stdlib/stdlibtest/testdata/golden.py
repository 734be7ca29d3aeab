#!/usr/bin/env python3
"""Writes the table of densities of golden_test.go:
python3 testdata/golden.py > golden_table_test.go

Formulas are the textbook densities, in 400 digits, of the arguments as float64.
"""
from mpmath import *
mp.dps = 400

lg = loggamma
def N(y, m, s): return -((y - m) / s) ** 2 / 2 - log(s) - log(2 * pi) / 2
def Phi(x): return erfc(-x / sqrt(mpf(2))) / 2
def lbinom(n, k): return lg(n + 1) - lg(k + 1) - lg(n - k + 1)
def nb2(n, mu, phi): return lg(n + phi) - lg(phi) - lg(n + 1) + n * log(mu / (mu + phi)) + phi * log(phi / (mu + phi))
def lbeta(a, b): return lg(a) + lg(b) - lg(a + b)
def xlogy(x, y): return mpf(0) if x == 0 else x * log(y)

rows = {
    "normal_lpdf": (N, [(0.5, 0, 1), (1e8, 3, 2e-3), (1e-8, 1e-8, 1e-12), (-30, 2.5, 1e5)]),
    "normal_lcdf": (lambda y, m, s: log(Phi((y - m) / s)), [(-40.0, 0.0, 1.0), (-5, 1, 2), (8, 0, 1), (30, 0, 1), (-1e4, 1, 2)]),
    "normal_lccdf": (lambda y, m, s: log(1 - Phi((y - m) / s)), [(-8.5, 0, 1), (5, 1, 2), (38.5, 0, 1)]),
    "student_t_lpdf": (lambda y, n, m, s: lg((n + 1) / 2) - lg(n / 2) - log(n * pi) / 2 - log(s) - (n + 1) / 2 * log1p(((y - m) / s) ** 2 / n),
                       [(0.3, 4, 0, 1), (5, 1e10, 1, 2), (1e6, 0.1, 0, 1), (1e-9, 3.5, 0, 1e-3), (2, 1e15, 0, 1)]),
    "cauchy_lpdf": (lambda y, m, s: -log(pi) - log(s) - log1p(((y - m) / s) ** 2), [(0.3, 0, 1), (1e12, 1, 2), (1e-12, 0, 1e-3)]),
    "cauchy_lcdf": (lambda y, m, s: log(atan2(mpf(1), -(y - m) / s) / pi), [(-1e12, 1, 2), (0.3, 0, 1), (1e6, 0, 1)]),
    "double_exponential_lcdf": (lambda y, m, s: log(exp((y - m) / s) / 2) if y < m else log(1 - exp(-(y - m) / s) / 2), [(-800, 0, 1), (0.3, 0, 1), (40, 0, 1)]),
    "logistic_lpdf": (lambda y, m, s: -(y - m) / s - log(s) - 2 * log1p(exp(-(y - m) / s)), [(0.3, 0, 1), (-1000, 1, 2), (1000, 1, 2)]),
    "logistic_lcdf": (lambda y, m, s: -log1p(exp(-(y - m) / s)), [(-1000, 1, 2), (60, 0, 1)]),
    "gumbel_lccdf": (lambda y, m, b: log(-expm1(-exp(-(y - m) / b))), [(50, 0, 1), (-3, 0, 1), (0.1, 0, 1)]),
    "lognormal_lpdf": (lambda y, m, s: N(log(y), m, s) - log(y), [(0.5, 0, 1), (1e-200, 3, 5), (1e200, 1, 30)]),
    "exponential_lcdf": (lambda y, b: log(-expm1(-b * y)), [(1e-12, 2), (3, 2), (40, 1)]),
    "gamma_lpdf": (lambda y, a, b: a * log(b) - lg(a) + (a - 1) * log(y) - b * y, [(0.5, 2, 3), (1e-200, 1e-3, 1), (1e6, 1e6, 1), (3e-3, 1e-8, 2), (1e10, 5, 1e-9)]),
    "inv_gamma_lpdf": (lambda y, a, b: a * log(b) - lg(a) - (a + 1) * log(y) - b / y, [(0.5, 2, 3), (1e-5, 1e-3, 1), (1e6, 1e3, 1e9)]),
    "chi_square_lpdf": (lambda y, n: -n / 2 * log(mpf(2)) - lg(n / 2) + (n / 2 - 1) * log(y) - y / 2, [(0.5, 3), (1e3, 1e3), (1e-100, 1e-2)]),
    "inv_chi_square_lpdf": (lambda y, n: -n / 2 * log(mpf(2)) - lg(n / 2) - (n / 2 + 1) * log(y) - 1 / (2 * y), [(0.5, 3), (1e-3, 1e3)]),
    "scaled_inv_chi_square_lpdf": (lambda y, n, s: n / 2 * log(n / 2) - lg(n / 2) + n * log(s) - (n / 2 + 1) * log(y) - n * s * s / (2 * y), [(0.5, 3, 2), (1e-3, 1e3, 0.03)]),
    "weibull_lpdf": (lambda y, a, s: log(a) + (a - 1) * log(y) - a * log(s) - (y / s) ** a, [(0.5, 2, 3), (1e-100, 0.1, 1), (1.01, 500, 1)]),
    "weibull_lcdf": (lambda y, a, s: log(-expm1(-(y / s) ** a)), [(1e-100, 0.1, 1), (0.5, 2, 3), (1.01, 500, 1)]),
    "frechet_lpdf": (lambda y, a, s: log(a) - (a + 1) * log(y) + a * log(s) - (s / y) ** a, [(0.5, 2, 3), (1e100, 0.1, 1)]),
    "rayleigh_lpdf": (lambda y, s: log(y) - 2 * log(s) - (y / s) ** 2 / 2, [(0.5, 2), (1e-100, 1), (50, 1)]),
    "pareto_lpdf": (lambda y, m, a: log(a) + a * log(m) - (a + 1) * log(y), [(2, 1, 3), (1e100, 1e-100, 0.01)]),
    "pareto_type_2_lpdf": (lambda y, m, l, a: log(a) - log(l) - (a + 1) * log1p((y - m) / l), [(2, 1, 3, 2), (1e-20, 0, 1, 5)]),
    "beta_lpdf": (lambda y, a, b: (a - 1) * log(y) + (b - 1) * log1p(-y) - lbeta(a, b), [(0.3, 2, 3), (1e-300, 1e-3, 2), (0.5, 1e8, 1e8), (1 - 2.0**-40, 3, 1e-3)]),
    "beta_proportion_lpdf": (lambda y, m, k: (m * k - 1) * log(y) + (k - m * k - 1) * log1p(-y) - lbeta(m * k, k - m * k), [(0.3, 0.25, 3), (0.5, 0.5, 1e6)]),
    "uniform_lpdf": (lambda y, a, b: -log(b - a), [(0.3, -1e-300, 2), (1.0, 0.5, 1e300)]),
    "skew_normal_lpdf": (lambda y, m, s, a: log(2) + N(y, m, s) + log(Phi(a * (y - m) / s)), [(0.3, 0, 1, 2), (-10, 0, 1, 5), (3, 1, 2, -4)]),
    "exp_mod_normal_lpdf": (lambda y, m, s, l: log(l) + l * (m - y) + (l * s) ** 2 / 2 + log(Phi((y - m) / s - l * s)), [(0.3, 0, 1, 2), (-10, 0, 1, 5), (30, 1, 2, 0.1)]),
    "skew_double_exponential_lpdf": (lambda y, m, s, t: log(2) + log(t) + log1p(-t) - log(s) - 2 * (((1 - t) * (m - y)) if y < m else (t * (y - m))) / s, [(0.3, 0, 1, 0.2), (-1e3, 1, 2, 0.999)]),
    "loglogistic_lpdf": (lambda y, a, b: log(b) - log(a) + (b - 1) * log(y / a) - 2 * log1p((y / a) ** b), [(0.3, 1, 2), (1e50, 3, 40), (1e-50, 3, 40)]),
    "bernoulli_logit_lpmf": (lambda n, a: -log1p(exp(-a if n else a)), [(1, -800.0), (0, -800.0), (1, 0.3), (0, 40.0)]),
    "binomial_lpmf": (lambda n, N, t: lbinom(N, n) + xlogy(n, t) + (0 if n == N else (N - n) * log1p(-t)), [(3, 10, 0.3), (0, 5, 0.0), (5, 5, 1.0), (0, 1000000, 1e-12), (500000000, 1000000000, 0.5)]),
    "binomial_logit_lpmf": (lambda n, N, a: lbinom(N, n) - n * log1p(exp(-a)) - (N - n) * log1p(exp(a)), [(3, 10, 0.3), (10, 10, 50.0), (0, 7, -50.0)]),
    "poisson_lpmf": (lambda n, l: xlogy(n, l) - l - lg(n + 1), [(3, 2.5), (0, 0.0), (0, 1e-300), (1000000, 1e6), (5, 1e-100)]),
    "poisson_log_lpmf": (lambda n, a: n * a - exp(a) - lg(n + 1), [(3, 0.5), (0, -700.0), (1000000, 13.8)]),
    "neg_binomial_lpmf": (lambda n, a, b: lg(n + a) - lg(a) - lg(n + 1) - a * log1p(1 / b) - n * log1p(b), [(3, 2, 0.5), (0, 1e-10, 3), (1000, 1e6, 1e3)]),
    "neg_binomial_2_lpmf": (nb2, [(3, 2.5, 0.5), (0, 3, 1e-10), (4, 3, 1e10), (100000, 1e5, 1e3), (2, 1e-8, 20)]),
    "neg_binomial_2_log_lpmf": (lambda n, e, p: nb2(n, exp(e), p), [(3, 0.9, 0.5), (4, 1.1, 1e10), (0, -40, 3), (7, 30, 2)]),
    "beta_binomial_lpmf": (lambda n, N, a, b: lbinom(N, n) + lbeta(n + a, N - n + b) - lbeta(a, b), [(3, 10, 2, 3), (0, 7, 1e-5, 1e5), (50, 100, 1e8, 1e8)]),
    "beta_binomial_lcdf": (lambda n, N, a, b: log(sum(exp(lbinom(N, k) + lbeta(k + a, N - k + b) - lbeta(a, b)) for k in range(int(n) + 1))), [(3, 10, 2, 3), (0, 50, 30, 0.5), (40, 50, 0.1, 20)]),
    "beta_binomial_lccdf": (lambda n, N, a, b: log(sum(exp(lbinom(N, k) + lbeta(k + a, N - k + b) - lbeta(a, b)) for k in range(int(n) + 1, int(N) + 1))), [(3, 10, 2, 3), (49, 50, 0.5, 30), (2, 50, 30, 0.5)]),
    "beta_neg_binomial_lpmf": (lambda n, r, a, b: lbeta(n + r, a + b) - lbeta(r, a) + lg(n + b) - lg(n + 1) - lg(b), [(3, 2.5, 4, 0.7), (1000, 10, 3, 50), (0, 1e-3, 5, 2), (20, 1e6, 2e6, 3)]),
    "yule_simon_lpmf": (lambda n, a: log(a) + lbeta(n, a + 1), [(1, 2), (1000000, 3), (5, 1e-3), (7, 1e6)]),
    "yule_simon_lcdf": (lambda n, a: log(1 - n * exp(lbeta(n, a + 1))), [(1, 2), (50, 0.3), (3, 1e-3), (10, 40)]),
    "yule_simon_lccdf": (lambda n, a: log(n) + lbeta(n, a + 1), [(1, 2), (1000000, 3), (10, 40)]),
}

print("// Code generated by testdata/golden.py. DO NOT EDIT.\n\npackage stdlibtest\n")
print("var golden = map[string][]goldenValue{")
for name, (f, points) in rows.items():
    print('\t"%s": {' % name)
    for a in points:
        v = f(*[mpf(x) for x in a])
        print("\t\t{[]float64{%s}, %s}," % (", ".join(repr(x) for x in a), nstr(mpf(v), 25, min_fixed=0, max_fixed=0)))
    print("\t},")
print("}")
