"""Writes events.txt: solutions of event schedules in 40 digits, and a directional derivative of each.

It goes from record to record with matrix exponentials, and adds up the doses before a dose at
steady state one after another.  python3 events.py > events.txt
"""
import json
import random

import mpmath as mp

mp.mp.dps = 50


def system(model, p):
    if model == "one":
        k, ka = p[0] / p[1], p[2]
        return mp.matrix([[-ka, 0], [ka, -k]])
    cl, q, v2, v3, ka = p
    return mp.matrix([[-ka, 0, 0], [ka, -(cl + q) / v2, q / v3], [0, q / v2, -q / v3]])


def flow(K, y, r, t):
    """The state after time t with constant inflow r."""
    n = K.rows
    A = mp.zeros(n + 1)
    for i in range(n):
        for j in range(n):
            A[i, j] = K[i, j] * t
        A[i, n] = r[i] * t
    E = mp.expm(A, method="taylor")
    return [mp.fsum(E[i, j] * y[j] for j in range(n)) + E[i, n] for i in range(n)]


def through(K, y, doses, infusions, begin, end):
    """From begin to end, with the doses in (begin, end] and infusions (from, to, compartment, rate)."""
    marks = sorted({begin, end} | {t for t, _, _ in doses if begin < t <= end}
                   | {t for a, b, _, _ in infusions for t in (a, b) if begin < t <= end})
    for a, b in zip(marks, marks[1:]):
        r = [mp.mpf(0)] * K.rows
        for start, stop, c, rate in infusions:
            if start <= a and b <= stop:
                r[c] += rate
        y = flow(K, y, r, b - a)
        for t, c, amount in doses:
            if t == b:
                y[c] += amount
    return y


def solve(case, theta, biovar, tlag):
    n, states = len(case["time"]), 2 if case["model"] == "one" else 3
    row = lambda table, i: table[i] if len(table) > 1 else table[0]
    out, y = [], [mp.mpf(0)] * states
    doses, infusions, now = [], [], None
    for i in range(n):
        t = mp.mpf(case["time"][i])
        K = system(case["model"], row(theta, i))
        evid, ss, c = case["evid"][i], case["ss"][i], case["cmt"][i] - 1
        dose = evid in (1, 4)
        if evid >= 3:
            y, doses, infusions = [mp.mpf(0)] * states, [], []
        elif i > 0:
            y = through(K, y, doses, infusions, now, t)
        now = t
        if dose:
            F, lag = row(biovar, i)[c], row(tlag, i)[c]
            amount, rate, ii = F * mp.mpf(case["amt"][i]), mp.mpf(case["rate"][i]), mp.mpf(case["ii"][i])
            if ss == 1:
                y, doses, infusions = [mp.mpf(0)] * states, [], []
            if ss > 0 and rate > 0 and ii == 0:
                r = [mp.mpf(0)] * states
                r[c] = rate
                z = flow(K, [mp.mpf(0)] * states, r, mp.mpf(10) ** 6)
                y = [a + b for a, b in zip(y, z)]
            else:
                if ss > 0:
                    z, running = before(K, states, c, amount, rate, ii, lag, t)
                    y = [a + b for a, b in zip(y, z)]
                    infusions += running
                for k in range(case["addl"][i] + 1):
                    at = t + lag + k * ii
                    if rate > 0:
                        infusions.append((at, at + amount / rate, c, rate))
                    elif at == t:
                        y[c] += amount
                    else:
                        doses.append((at, c, amount))
        out.append(list(y))
    return out


def before(K, states, c, amount, rate, ii, lag, t):
    """The state at t of doses every ii until t + lag - ii, and infusions that are still running."""
    if rate == 0:
        # The sum of the doses, by doubling their number.
        zero = [mp.mpf(0)] * states
        y = list(zero)
        y[c] = amount
        span = ii
        for _ in range(30):
            z = flow(K, y, zero, span)
            y = [a + b for a, b in zip(y, z)]
            span *= 2
        return flow(K, y, zero, ii - lag), []
    length = amount / rate
    infusions = [(t + lag - k * ii, t + lag - k * ii + length, c, rate) for k in range(1, 61)]
    # Those of long ago: one infusion after its end, then doubled.
    r = [mp.mpf(0)] * states
    r[c] = rate
    zero = [mp.mpf(0)] * states
    y = flow(K, flow(K, zero, r, length), zero, 60 * ii - length)  # at 60 intervals after its start
    span = ii
    for _ in range(30):
        z = flow(K, y, zero, span)
        y = [a + b for a, b in zip(y, z)]
        span *= 2
    y = flow(K, y, zero, ii - lag)
    z = through(K, zero, [], infusions, infusions[-1][0], t)
    return [a + b for a, b in zip(y, z)], [x for x in infusions if x[1] > t]


def schedule(rng, model):
    states = 2 if model == "one" else 3
    n = rng.choice([1, 2, 3, 5, 8, 8, 12, 12])
    case = dict(model=model, time=[], amt=[], rate=[], ii=[], evid=[], cmt=[], addl=[], ss=[])
    t = 0.0
    for i in range(n):
        evid = rng.choice([0, 0, 0, 1, 1, 1, 2, 3, 4]) if i else rng.choice([1, 1, 1, 0, 4])
        if evid >= 3 and rng.random() < 0.5:
            t = 0.0
        elif i:
            t += rng.choice([0, 0.5, 1, 2.25, 6])
        dose = evid in (1, 4)
        ss = rng.choice([0, 0, 1, 2]) if dose else 0
        rate = rng.choice([0, 0, 12.5, 40]) if dose else 0
        ii = rng.choice([2, 4.5, 12]) if dose and (ss or rng.random() < 0.5) else 0
        addl = rng.choice([0, 1, 3]) if ii else 0
        amt = rng.choice([25, 80, 100]) if dose else 0
        if ss and rate and rng.random() < 0.3:
            ii, addl, amt = 0, 0, 0
        for name, value in dict(time=t, amt=amt, rate=rate, ii=ii, evid=evid, cmt=rng.randint(1, states), addl=addl, ss=ss).items():
            case[name].append(value)
    rows = lambda: n if rng.random() < 0.4 else 1
    size = [3, 5][states - 2]
    low = [3, 10, 0.4] if model == "one" else [3, 4, 10, 15, 0.4]
    case["theta"] = [[round(x * rng.uniform(0.7, 1.6), 3) for x in low] for _ in range(rows())]
    if rng.random() < 0.1:
        case["theta"] = [[5, 10, 0.5]] if model == "one" else [[5, 0.001, 10, 20, 0.5]]  # equal rate constants, or nearly so
    case["biovar"] = [[round(rng.uniform(0.5, 1), 3) for _ in range(states)] for _ in range(rows())]
    lag = rng.random() < 0.6
    case["tlag"] = [[round(rng.uniform(0.1, 1.9), 3) if lag else 0 for _ in range(states)] for _ in range(rows())]
    case["along"] = [round(rng.gauss(0, 1), 3) for _ in range(size * len(case["theta"]) + states * (len(case["biovar"]) + len(case["tlag"])))]
    if not lag:
        for k in range(states * len(case["tlag"])):
            case["along"][-1 - k] = 0
    return case


def main():
    rng = random.Random(1)
    for k in range(60):
        case = schedule(rng, ["one", "two"][k % 2])
        tables = ["theta", "biovar", "tlag"]
        exact = lambda x: [[mp.mpf(v) for v in r] for r in x]
        moved = lambda h: solve(case, *shifted(case, h))

        def shifted(case, h):
            at, out = 0, []
            for name in tables:
                rows = exact(case[name])
                for r in rows:
                    for j in range(len(r)):
                        r[j] += h * mp.mpf(case["along"][at])
                        at += 1
                out.append(rows)
            return out

        y = moved(mp.mpf(0))
        h = mp.mpf(10) ** -16
        up, down = moved(h), moved(-h)
        case["y"] = [[float(v) for v in r] for r in y]
        case["slope"] = [[float((u - d) / (2 * h)) for u, d in zip(a, b)] for a, b in zip(up, down)]
        print(json.dumps(case, separators=(",", ":")), flush=True)


main()
