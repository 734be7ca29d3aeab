"""Functions in high precision that mpmath lacks or computes slowly, and logarithms of
both tails of distributions, each computed where it is small."""
from mpmath import *

lg = loggamma
NEG = mpf('-inf')


def lbeta(a, b): return lg(a) + lg(b) - lg(a + b)


def lbinom(n, k): return lg(n + 1) - lg(k + 1) - lg(n - k + 1)


def xlogy(x, y): return mpf(0) if x == 0 else x * log(y)


def logit(p): return log(p) - log1p(-p)


def log1pexp(x): return log1p(exp(x)) if x < 0 else x + log1p(exp(-x))


def log1mexp(x):
    """log(1 - exp(x)) for x <= 0."""
    return NEG if x == 0 else log(-expm1(x)) if x > -1 else log1p(-exp(x))


def both(tail, left):
    """The logarithms of both tails, given that of the left or the right one."""
    return (tail, log1mexp(tail)) if left else (log1mexp(tail), tail)


def normal(z):
    """log Phi(z) and log(1 - Phi(z))."""
    return both(log(erfc(abs(z) / sqrt(mpf(2))) / 2), z < 0)


def lPhi(z): return normal(z)[0]


def decay(h):
    """The integral of exp(-h(v)) from 0 to infinity, for a convex h that grows from 0."""
    end = mpf(2) ** -2400
    while h(end) < 2.5 * mp.dps:
        end *= 2
    while h(end) > 5 * mp.dps:
        end *= mpf(7) / 8
    cuts, v = [mpf(0)], end
    while len(cuts) < 300 and (len(cuts) < 12 or h(v) > mpf(1) / 8):
        cuts.insert(1, v)
        v /= 2
    return quad(lambda v: exp(-h(v)), cuts, method="gauss-legendre", maxdegree=8)


LARGE = 2e4  # from such a shape on, tails are integrals of log-concave functions


def gamma_tails(a, x):
    """log P(a, x) and log Q(a, x), the regularised incomplete gamma functions."""
    if x <= 0:
        return NEG, mpf(0)
    if a > LARGE:
        front = a * log(x) - x - lg(a)
        if x < a:
            return both(front + log(decay(lambda v: a * v + x * expm1(-v))), True)
        return both(front + log(decay(lambda v: x * expm1(v) - a * v)), False)
    eps = mpf(10) ** (-mp.dps)
    if x < a + 1 or x < 40:
        s = t = mpf(1)
        n = a + 1
        while t > eps * s:
            t *= x / n
            s += t
            n += 1
        return both(min(a * log(x) - x - lg(a + 1) + log(s), mpf(0)), True)
    tiny = mpf(10) ** (-3 * mp.dps)
    b = x + 1 - a
    c = 1 / tiny
    d = 1 / b
    h = d
    i = 1
    while True:
        an = -i * (i - a)
        b += 2
        d = an * d + b
        c = b + an / c
        d = 1 / d
        delta = d * c
        h *= delta
        if abs(delta - 1) < eps:
            break
        i += 1
    return both(a * log(x) - x - lg(a) + log(h), False)


def beta_tails(x, y, a, b):
    """log I_x(a, b) and log(1 - I_x(a, b)); y is 1 - x."""
    if x <= 0:
        return NEG, mpf(0)
    if y <= 0:
        return mpf(0), NEG
    if max(a, b) > LARGE:
        return large_beta_tails(x, y, a, b)
    left = x < (a + 1) / (a + b + 2)
    if not left:
        x, y, a, b = y, x, b, a
    eps = mpf(10) ** (-mp.dps)
    front = a * log(x) + b * log(y) - log(a) - lbeta(a, b)
    c = mpf(1)
    d = 1 / (1 - (a + b) * x / (a + 1))
    h = d
    m = 1
    while True:
        m2 = 2 * m
        aa = m * (b - m) * x / ((a + m2 - 1) * (a + m2))
        d = 1 / (1 + aa * d)
        c = 1 + aa / c
        h *= d * c
        aa = -(a + m) * (a + b + m) * x / ((a + m2) * (a + m2 + 1))
        d = 1 / (1 + aa * d)
        c = 1 + aa / c
        delta = d * c
        h *= delta
        if abs(delta - 1) < eps:
            break
        m += 1
    return both(front + log(h), left)


def large_beta_tails(x, y, a, b):
    """beta_tails, integrated by the logit of the variable."""
    for z, c, d, left in ((x, a, b, True), (y, b, a, False)):
        if c < 1 and d * z < 1:
            # A plateau: the series z^c/c (1 + c sum (1-d)_k z^k/(k! (c+k))).
            eps, s, t, k = mpf(10) ** (-mp.dps - 5), 1 / c, mpf(1), 0
            while abs(t) > eps:
                k += 1
                t *= (k - d) * z / k
                s += t / (c + k)
            return both(min(c * log(z) - lbeta(c, d) + log(s), mpf(0)), left)
    left = x * (a + b) < a
    if not left:
        x, y, a, b = y, x, b, a
    front = a * log(x) + b * log(y) - lbeta(a, b)
    tail = front + log(decay(lambda v: a * v + (a + b) * log1p(x * expm1(-v))))
    return both(tail, left)


def student(t, n):
    r = t * t
    tail = beta_tails(n / (n + r), r / (n + r), n / 2, mpf(1) / 2)[0] - log(mpf(2))
    return both(tail, t < 0)


def owens(h, a):
    end = min(a, 40 / h) if h > 1 else a
    return quad(lambda x: exp(-h * h * (1 + x * x) / 2) / (1 + x * x), linspace(0, end, 40)) / (2 * pi)


def skew(z, a):
    """Both tails of the skew normal distribution."""
    def rest(h, a):  # 2 T(h, inf) - 2 T(h, a)
        if h == 0:
            return atan2(1, a) / pi
        c = 1 / (h * h * a + h)
        return exp(-h * h * (1 + a * a) / 2) * quad(lambda u: exp(-h * h * u * (a + u / 2)) / (1 + (a + u) ** 2),
                                                   [0, c, 3 * c, 10 * c, 40 * c, 200 * c]) / pi
    r = rest(abs(z), abs(a))

    def below(z, a):
        if a >= 0:
            return log(r) if z <= 0 else log(erf(z / sqrt(mpf(2))) + r)
        return log(1 - erf(-z / sqrt(mpf(2))) - r) if z < 0 else log1p(-r)
    with workdps(mp.dps + 350):
        return below(z, a), below(-z, -a)


def angles(y, mu, kappa):
    """Both tails of the von Mises distribution between -pi and pi."""
    f = lambda t: exp(kappa * (cos(t - mu) - 1))
    c = 2 * pi * besseli(0, kappa) * exp(-kappa)
    w = 1 / sqrt(1 + kappa)
    peak = mu - 2 * pi * floor((mu + pi) / (2 * pi))
    def part(a, b):
        cuts = [a + (b - a) * mpf(i) / 8 for i in range(9)]
        cuts += [p + s * w for p in (peak, peak - 2 * pi, peak + 2 * pi) for s in (-30, -10, -5, -2, -1, 0, 1, 2, 5, 10, 30) if a < p + s * w < b]
        # towards the end where a far tail is greatest
        cuts += [e + s * w * w * k for e, s in ((a, 1), (b, -1)) for k in (mpf(1) / 4, 1, 4, 16, 64) if a < e + s * w * w * k < b]
        return quad(f, sorted(set(cuts))) / c
    a, b = part(-pi, y), part(y, pi)
    return log(a), log(b)


def wiener(u, w):
    """The log density of the first passage time of a process of drift 0."""
    if u > mpf('0.3'):
        n = int(sqrt(2 * mp.dps * log(10) / u) / pi) + 5
        return log(pi * fsum(k * sin(k * pi * w) * exp(-k * k * pi * pi * u / 2) for k in range(1, n)))
    n = int(sqrt(2 * mp.dps * log(10) * u)) + 10
    s = fsum((w + 2 * k) * exp(-2 * k * (k + w) / u) for k in range(-n, n + 1))
    return -log(2 * pi * u ** 3) / 2 - w * w / (2 * u) + log(s)


def lambert(x, branch): return lambertw(x, branch).real
