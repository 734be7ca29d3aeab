"""Checks, effects, comparisons and modes."""

import math
import random

import ppl
import pytest

GROUPS = """
data {
  int N;
  vector[N] x;
  array[N] int<lower=1, upper=3> g;
  vector[N] y;
}
parameters {
  vector[3] a;
  real b;
  matrix[2, 1] free;
  real<lower=0> s;
}
model {
  a ~ normal(0, 5);
  b ~ normal(0, 5);
  to_vector(free) ~ normal(0, 1);
  s ~ exponential(1);
  y ~ normal(a[g] + b * x, s);
}
"""


@pytest.fixture(scope="module")
def data():
    r = random.Random(1)
    g = [i % 3 + 1 for i in range(60)]
    x = [r.gauss(0, 1) for _ in g]
    return {"N": 60, "x": x, "g": g, "y": [k + 2 * v + r.gauss(0, 1) for k, v in zip(g, x)]}


@pytest.fixture(scope="module")
def model():
    return ppl.Model(text=GROUPS)


@pytest.fixture(scope="module")
def fit(model, data):
    return model.sample(data, seed=1, progress=False)


def test_ppc(fit, data):
    checks = fit.ppc()
    mean = next(c for c in checks if c["statistic"] == "mean")
    assert mean["variable"] == "y"
    assert mean["observed"] == pytest.approx(sum(data["y"]) / 60)
    assert 0.05 < mean["p"] < 0.95
    assert "statistic" in repr(checks) and "<table>" in checks._repr_html_()
    grouped = fit.ppc(by="g")
    assert {c["group"] for c in grouped} == {"", "g=1", "g=2", "g=3"}


def test_effects(fit):
    (slope,) = fit.effects("x")
    assert slope["term"] == "x" and slope["to"] == "+1"
    assert slope["mean"] == pytest.approx(fit.summary()["b"]["mean"], rel=1e-6)
    assert slope["q5"] < slope["mean"] < slope["q95"] and slope["positive"] > 0.99
    by = fit.effects("x", by=["g"])
    assert len(by) == 3 and by.columns[:4] == ["term", "from", "to", "g"]
    at = fit.effects("g", at={"x": [0, 1]}, show="predictions")
    assert len(at) == 6 and len({row["x"] for row in at}) == 2
    ranks = fit.effects("g", rank=True)
    assert sum(ranks[0][f"rank {i}"] for i in (1, 2, 3)) == pytest.approx(1)
    with pytest.raises(ppl.RunError, match="have no nothing"):
        fit.effects("nothing")


def test_compare(fit, model, data, tmp_path):
    flat = ppl.Model(text=GROUPS.replace("b * x", "0 * x")).sample(data, seed=1, progress=False)
    table = ppl.compare(flat=flat, slope=fit)
    assert [row["model"] for row in table] == ["slope", "flat"]
    assert table[1]["elpd_diff"] < -10 and table[0]["verdict"] == "best"
    assert [row["model"] for row in ppl.compare(fit, flat)] == ["1", "2"]
    same = [f.save(tmp_path / name / "fit") for name, f in (("a", flat), ("b", fit))]
    assert [row["model"] for row in ppl.compare(*same)] == ["2", "1"]
    assert str(fit.folder) not in repr(table)
    for wrong in ([], [fit], [fit, fit]):
        with pytest.raises(ppl.UsageError):
            ppl.compare(*wrong)


def test_optimize(model, data):
    mode = model.optimize(data, seed=1)
    assert mode.converged and math.isfinite(mode.lp)
    assert list(mode) == ["a", "b", "free", "s"]
    assert abs(mode["b"] - 2) < 0.5 and len(mode["a"]) == 3 and len(mode["free"]) == 2 and len(mode["free"][0]) == 1
    started = model.sample(data, init=mode, seed=1, warmup=100, draws=10, chains=1, progress=False)
    assert len(started.draws["b"][0]) == 10
    with pytest.raises(ppl.DataError):
        model.optimize({"N": 1})
    with pytest.raises(ppl.UsageError):
        model.optimize(data, no_such_option=1)


def test_pandas(fit):
    pandas = pytest.importorskip("pandas")
    frame = fit.effects("x", by="g").to_pandas()
    assert isinstance(frame, pandas.DataFrame) and len(frame) == 3
