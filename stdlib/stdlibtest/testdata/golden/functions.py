"""Functions of numbers: the kinds of their arguments, the value, points."""
from special import *


def each(*xs): return [(x,) for x in xs]


def pairs(xs, ys): return [(x, y) for x in xs for y in ys]


def invphi(l):
    """The z with log Phi(z) = l."""
    if l == log(mpf(1) / 2):
        return mpf(0)
    if l > log(mpf(1) / 2):
        return -invphi(log1mexp(l))
    return findroot(lambda t: normal(t)[0] - l, -sqrt(-2 * l) if l < -3 else mpf(-0.5))


known = {}


def root(f, lo, hi, *args):
    """By bisection to double precision, then by secants; arguments that differ by less than
    that share the bisection."""
    key = tuple(float(a) for a in args)
    if key not in known:
        with workdps(30):
            rising = f(hi) > 0
            for _ in range(75):
                m = (lo + hi) / 2
                if (f(m) > 0) == rising:
                    hi = m
                else:
                    lo = m
        known[key] = hi
    z = known[key]
    return findroot(f, (z, z * (1 + mpf(10) ** -12)), tol=mpf(10) ** (-2 * mp.dps + 20))


def inv_inc_beta(a, b, p):
    if p == 0 or p == 1:
        return p
    k = 0 if p < 0.5 else 1
    l = log(p) if k == 0 else log1p(-p)
    def f(z):
        e = exp(-abs(z))
        x, y = (e / (1 + e), 1 / (1 + e)) if z < 0 else (1 / (1 + e), e / (1 + e))
        return beta_tails(x, y, a, b)[k] - l
    z = root(f, mpf(-3000), mpf(3000), a, b, p)
    return 1 / (1 + exp(-z))


def student_qf(p, n, m, s):
    if p == 0.5:
        return m
    q = min(p, 1 - p)
    t = root(lambda t: student(-exp(t), n)[0] - log(q), mpf(-50), mpf(400), n, p)
    return m + s * exp(t) * (-1 if p < 0.5 else 1)


def lmgamma(n, x): return n * (n - 1) / 4 * log(pi) + fsum(lg(x + mpf(1 - j) / 2) for j in range(1, int(n) + 1))


def rising(x, n): return fprod(x + k for k in range(int(n)))


def falling(x, n): return fprod(x - k for k in range(int(n)))


def hypergeometric(n, N, a, b): return lbinom(a, n) + lbinom(b, N - n) - lbinom(a + b, N)


tiny = (1e-300, 1e-20, 1e-8)
both_signs = lambda *xs: each(*[s * x for x in xs for s in (1, -1)])
reals = both_signs(0.3, 1.7, 1e-300, 1e-12, 1e-5, 5, 20, 37.5, 100, 700)
positive = each(0.3, 1.7, 1e-300, 1e-12, 1, 0.999999, 1.0000001, 5, 1e5, 1e300)
orders = [(n, x) for n in (0, 1, 2, 7, 30) for x in (0.5, 3, 10, 33)] + [(0, 1e-8), (1, 1e-8), (3, 1e-3), (100, 5), (100, 99), (5, 1e3), (0, 1e5), (2, 0.001)]
near_line = (-2.0, -0.5, 0.5, 3)

rows = {
    "sqrt": ("r", sqrt, positive), "cbrt": ("r", lambda x: sign(x) * cbrt(abs(x)), each(0.3, -1.7, 1e-300, -1e300, 27.5)), "square": ("r", lambda x: x * x, each(0.3, -1.7, 1e150, -1e-150)),
    "inv": ("r", lambda x: 1 / x, each(0.3, -1.7, 1e300, 1e-100)), "inv_sqrt": ("r", lambda x: 1 / sqrt(x), positive[:9]), "inv_square": ("r", lambda x: 1 / x ** 2, each(0.3, -1.7, 1e70, -1e-70)),
    "hypot": ("rr", hypot, [(0.3, 1.7), (1e200, 1e200), (1e-200, -1e-200), (1e200, 1e-200), (-3, 4)]),
    "exp": ("r", exp, reals), "exp2": ("r", lambda x: mpf(2) ** x, reals), "expm1": ("r", expm1, reals),
    "log": ("r", log, positive), "log2": ("r", lambda x: log(x, 2), positive), "log10": ("r", log10, positive),
    "log1p": ("r", log1p, each(0.3, 1e-300, -1e-12, 1e-5, -0.3, -0.999999, -1 + 2.0**-53, 5, 1e300, 1.7)), "log1m": ("r", lambda x: log1p(-x), each(0.3, 1e-300, -1e-12, 1e-5, -0.3, 0.999999, 1 - 2.0**-53, -5, -1e300)),
    "log1p_exp": ("r", log1pexp, reals), "log1m_exp": ("r", log1mexp, each(-0.3, -1e-300, -1e-12, -1e-3, -0.69, -0.7, -1, -5, -37, -100, -745)),
    "log_diff_exp": ("rr", lambda x, y: x + log1mexp(y - x), [(1, 0.5), (1, 0.9999), (-800, -801), (1000, 0), (0, -1e-10), (1e10, 1e10 - 1e-3), (1, 1 - 2.0**-53), (1e-300, -1e-300), (700, -700), (-1e5, -1e5 - 40)]),
    "log_sum_exp": ("rr", lambda x, y: x + log1pexp(y - x), [(1, 0.5), (-800, -801), (1000, 0), (0, -1e-10), (800, 800.5), (-1e300, 0.3), (-0.693, -0.694), (0.3, -40), (-40, 0.3)]),
    "inv_logit": ("r", lambda x: 1 / (1 + exp(-x)), reals), "log_inv_logit": ("r", lambda x: -log1pexp(-x), reals), "log1m_inv_logit": ("r", lambda x: -log1pexp(x), reals),
    "log_inv_logit_diff": ("rr", lambda x, y: x - log1pexp(x) - log1pexp(y) + log1mexp(y - x), [(1, 0.5), (-30, -31), (40, 39), (1e-10, -1e-10), (3, 3 - 1e-12), (700, -700), (-500, -700)]),
    "logit": ("r", logit, each(0.3, 1e-300, 1e-5, 0.5000001, 0.9999, 1 - 2.0**-53, 0.8)), "inv_cloglog": ("r", lambda x: -expm1(-exp(x)), reals[:14] + each(3.5, -37.5, -100, -700)),
    "sin": ("r", sin, reals[:16] + each(1e5, 1e10)), "cos": ("r", cos, reals[:16] + each(1e5, 1e10)), "tan": ("r", tan, reals[:16] + each(1e5, 1e10)),
    "asin": ("r", asin, both_signs(0.3, 0.9, 1e-300, 1e-9, 0.999999, 1 - 2.0**-50)), "acos": ("r", acos, both_signs(0.3, 0.9, 1e-300, 1e-9, 0.999999, 1 - 2.0**-50)), "atan": ("r", atan, reals + each(1e300, -1e10)),
    "atan2": ("rr", atan2, pairs((0.3, -1.7, 1e-200), (0.9, -2, 1e-10)) + [(1, 1e300), (1e300, 1), (-1e-20, -1)]),
    "sinh": ("r", sinh, reals), "cosh": ("r", cosh, reals), "tanh": ("r", tanh, reals), "asinh": ("r", asinh, reals + each(1e300, -1e10)), "acosh": ("r", acosh, each(1.3, 5, 1 + 2.0**-40, 1.000001, 1e5, 1e300)),
    "atanh": ("r", atanh, both_signs(0.3, 0.9, 1e-300, 1e-9, 0.999999, 1 - 2.0**-50)),
    "fma": ("rrr", lambda x, y, z: x * y + z, [(0.3, 1.7, -2), (1e10, 1e10, 1), (1e-200, 1e-50, 1e-240)]), "fdim": ("rr", lambda x, y: x - y if x > y else mpf(0), [(1, 0.3), (1, 2), (1e300, -1e300)]),
    "fmod": ("rr", lambda x, y: x - y * (floor(x / y) if x > 0 else ceil(x / y)), [(7.5, 2), (-7.3, 2.1), (1e10, 3.3), (0.1, 1e-3)]), "ldexp": ("ri", lambda x, n: x * mpf(2) ** int(n), [(0.3, 5), (-1.7, -60), (1e-300, 1000)]),
    "pow": ("rr", power, [(0.3, 1.7), (5, -2.5), (1e-200, 1.2), (1.0000001, 1e6), (1e100, 3), (0.5, -900), (2, 1e-10)]),
    "erf": ("r", erf, both_signs(0.3, 1.7, 1e-300, 1e-9, 3, 5.5, 0.84)), "erfc": ("r", erfc, both_signs(0.3, 1.7, 1e-300, 1e-9, 3, 5.5, 0.84) + each(10, 26)),
    "Phi": ("r", lambda x: erfc(-x / sqrt(mpf(2))) / 2, both_signs(0.3, 1.7, 1e-300, 1e-9, 3, 5.5, 8.2) + each(-10, -37)), "Phi_approx": ("r", lambda x: 1 / (1 + exp(-(mpf(0.07056) * x ** 3 + mpf(1.5976) * x))), both_signs(0.3, 1.7, 1e-9, 3, 5.5) + each(-10, 20)),
    "inv_Phi": ("r", lambda p: invphi(log(p)), each(0.3, 0.8, 1e-300, 1e-20, 1e-5, 0.02, 0.0749, 0.4999, 0.500001, 0.92, 0.999, 0.9999999, 1 - 2.0**-53)), "std_normal_qf": ("r", lambda p: invphi(log(p)), each(0.3, 0.8, 1e-300, 0.02, 0.500001, 1 - 2.0**-53)),
    "std_normal_log_qf": ("r", invphi, each(-0.3, -1.5, -1e-300, -1e-20, -1e-5, -0.009, -0.011, -0.69, -0.7, -5, -100, -599, -601, -1e5, -1e10)), "inv_erfc": ("r", lambda x: -invphi(log(x / 2)) / sqrt(mpf(2)), each(0.3, 1.7, 1e-300, 1e-5, 0.99999, 1.99, 2 - 2.0**-51)),
    "lgamma": ("r", lambda x: log(abs(gamma(x))) if x < 0 else lg(x), each(0.3, 2.5, 1e-300, 1e-10, 0.4616, 0.999999, 1 + 1e-9, 1.25, 1.4616321, 1.999999, 2 + 1e-9, 3.7, 9.99, 10.5, 31, 1234.5, 1e6, 1e15, 1e300, -0.5, -1.7, -10.3)),
    "tgamma": ("r", gamma, each(0.3, 2.5, 1e-300, 1e-10, 0.999999, 1.25, 9.99, 31.3, 170.5, -0.5, -1.7, -10.3)),
    "digamma": ("r", digamma, each(0.3, 2.5, 1e-100, 1e-10, 1.4616321, 1.25, 5.99, 10.5, 1234.5, 1e15, -0.5, -1.7, -10.3, -1e-5, 1.46163214497)), "trigamma": ("r", lambda x: psi(1, x), each(0.3, 2.5, 1e-70, 1e-10, 1.25, 4.99, 10.5, 1234.5, 1e15, -0.5, -1.7, -10.3)),
    "lmgamma": ("ir", lmgamma, [(1, 0.3), (3, 2.5), (5, 2.0000001), (10, 1e5), (2, 1e-5 + 0.5)]),
    "lbeta": ("rr", lbeta, pairs((1e-10, 0.1, 2.5, 9.99, 50.5, 1e4, 1e8), (0.3, 5, 77, 1e6, 1e12)) + [(1, 1.0000001), (2.5, 1e-300)]),
    "beta": ("rr", beta, [(0.3, 0.7), (2.5, 3), (1e-10, 5), (100, 120), (1e4, 3), (1e-200, 1e-200)]),
    "lchoose": ("rr", lbinom, [(5.5, 2.25), (40, 20), (100.5, 3.25), (1e3, 500), (1e6, 7), (1e10, 1e5), (12.5, 12), (0.5, 0.25), (1e10, 3), (1e15, 2.5)]),
    "choose": ("ii", binomial, [(5, 2), (50, 3), (30, 15), (20, 0), (7, 7)]),
    "gamma_p": ("rr", lambda a, x: exp(gamma_tails(a, x)[0]), [(0.5, 0.3), (2.5, 1), (2.5, 30), (30, 20), (1e3, 1010), (1e3, 900), (1e-2, 0.5), (5, 1e-8), (1e5, 1.002e5), (100, 10), (2, 1e-100), (1e-10, 1e-10)]),
    "gamma_q": ("rr", lambda a, x: exp(gamma_tails(a, x)[1]), [(0.5, 0.3), (2.5, 1), (2.5, 30), (30, 20), (30, 200), (1e3, 1010), (1e3, 900), (1e3, 1500), (1e-2, 0.5), (1e5, 1.002e5), (0.7, 100), (0.5, 700), (1e-10, 1e-10), (1e-10, 5)]),
    "inc_beta": ("rrr", lambda a, b, x: exp(beta_tails(x, 1 - x, a, b)[0]), [(2, 3, 0.3), (0.5, 0.5, 0.9), (3, 0.2, 1e-10), (100, 120, 0.5), (100, 120, 0.2), (2, 30, 0.999), (1e3, 4e3, 0.2), (20, 0.5, 0.7), (1e-3, 5, 0.25), (1e5, 1e5, 0.501), (5, 1e-3, 0.25), (3, 1e5, 1e-6)]),
    "inv_inc_beta": ("rrr", inv_inc_beta, [(2, 3, 0.3), (2, 3, 1e-10), (2, 3, 0.999999), (0.1, 0.2, 0.3), (0.01, 5, 0.7), (500, 300, 0.7), (1e4, 3, 0.2), (30, 0.5, 0.9), (0.5, 0.5, 1e-100), (1, 1, 0.4)]),
    "student_t_qf": ("rrrr", student_qf, [(0.3, 3, 0, 1), (0.75, 3, 1, 2), (1e-10, 0.5, 0, 1), (0.01, 1e4, 1e3, 1e-3), (1 - 2.0**-53, 1, 0, 1), (0.500001, 30, 0, 1), (1e-100, 2, 0, 1), (0.999, 0.2, 3, 4), (1e-30, 50, 0, 1)]),
    "log_modified_bessel_first_kind": ("rr", lambda v, x: log(besseli(v, x)), [(v, x) for v in (0, 1, 3, 2.5, 20) for x in (1e-8, 0.1, 10, 39, 500)] + [(0, 1e5), (200, 3), (200, 1e3), (0.3, 1e-100), (1000, 1200)]),
    "modified_bessel_first_kind": ("ir", besseli, [(n, x) for n, x in orders if x < 600] + [(3, -2.5), (2, -2.5), (1, 700)]), "modified_bessel_second_kind": ("ir", besselk, [(n, x) for n, x in orders if x < 600] + [(1, 700)]),
    "bessel_first_kind": ("ir", besselj, orders + [(-3, 2.5), (3, -2.5)]), "bessel_second_kind": ("ir", bessely, orders),
    "lambert_w0": ("r", lambda x: lambert(x, 0), each(0.3, 1.7, -0.36787944117144228, -0.3678, -0.367, -0.3, -0.25, -1e-3, -1e-10, 1e-300, 1e-10, 2.9, 3, 10, 1e5, 1e100, 1e300)),
    "lambert_wm1": ("r", lambda x: lambert(x, -1), each(-0.3, -0.1, -0.36787944117144228, -0.3678, -0.367, -0.25, -1e-3, -1e-10, -1e-300)),
    "owens_t": ("rr", lambda h, a: sign(a) * owens(abs(h), abs(a)), pairs((1e-3, 0.5, -2, 8, 30), (1e-5, 0.3, -0.99, 1.5, 20)) + [(0.1, 1e3), (5, 1), (37, 0.1)]),
    "hypergeometric_1F0": ("rr", lambda a, z: (1 - z) ** -a, [(2.5, 0.3), (-1.5, 0.9), (3, -1e10), (1e5, 1e-6), (0.5, 1 - 2.0**-50)]),
    "lmultiply": ("rr", xlogy, [(0.3, 1.7), (2, 1e-300), (1e10, 1.0000001), (-3, 5)]),
    "log_rising_factorial": ("rr", lambda x, n: lg(x + n) - lg(x), [(0.3, 1.7), (2, 5), (1e8, 3), (1e-10, 2), (1e10, 1e3), (5, 1e-10), (3, 1e8)]),
    "log_falling_factorial": ("rr", lambda x, n: lg(x + 1) - lg(x - n + 1), [(5.3, 1.7), (8, 5), (1e8, 3), (1e10, 1e3), (5, 1e-10), (1e6, 999999.5)]),
    "rising_factorial": ("ri", rising, [(0.3, 3), (-1.7, 4), (1e10, 5), (2.5, 60), (1e-10, 2), (3, 0)]), "falling_factorial": ("ri", falling, [(0.3, 3), (-1.7, 4), (1e10, 5), (2.5, 60), (1e-10, 2), (3, 0)]),
    "binary_log_loss": ("ir", lambda y, p: -log(p) if y else -log1p(-p), [(1, 0.3), (0, 0.3), (1, 1e-300), (0, 1e-20), (0, 1 - 2.0**-53)]),
    "log_mix": ("rrr", lambda p, x, y: log(p * exp(x) + (1 - p) * exp(y)), [(0.3, 1, 2), (1e-20, 50, 0.1), (0.9, -800, -801), (0.5, 1000, -1000), (1 - 2.0**-53, -50, 10)]),
    "hypergeometric_lpmf": ("iiii", hypergeometric, [(2, 5, 6, 8), (0, 3, 5, 7), (500, 1000, 100000, 100000), (3, 1000000, 10, 3000000), (300, 1000, 1000, 2000)]),
}
