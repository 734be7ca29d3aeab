"""Fits: draws, summaries, findings, and what follows from them."""

import gc
import json
import math
import os
import pickle
import subprocess
import sys

import pytest

import ppl
from conftest import SCHOOLS, SCHOOLS_DATA

SHORT = {"seed": 1, "chains": 2, "warmup": 200, "draws": 100, "progress": False}


def same(a, b):
    return json.dumps(listed(a)) == json.dumps(listed(b))


def listed(a):
    return a.tolist() if hasattr(a, "tolist") else a


def test_draws(fit):
    theta = listed(fit.draws["theta"])
    assert (len(theta), len(theta[0]), len(theta[0][0])) == (4, 1000, 8)
    assert list(fit.draws)[:3] == ["mu", "tau", "theta_raw"] and "lp" in fit.sample_stats
    with pytest.raises(KeyError, match="thta"):
        fit.draws["thta"]
    mu, tau, raw = (listed(fit.draws[n]) for n in ("mu", "tau", "theta_raw"))
    assert theta[2][5][3] == mu[2][5] + tau[2][5] * raw[2][5][3]


def test_summary(fit):
    summary = fit.summary()
    mu = [v for chain in listed(fit.draws["mu"]) for v in chain]
    assert summary["mu"]["mean"] == pytest.approx(sum(mu) / len(mu), rel=1e-12)
    assert summary["theta[3]"]["rhat"] < 1.01 and len(fit.summary(["mu", "theta[1:2]"])) == 3
    assert fit.summary("mu", percentiles=[1, 99]).columns[3:5] == ["q1", "q99"]
    assert str(summary).splitlines()[0].split()[:3] == ["name", "mean", "sd"]
    ess = [r["ess_bulk"] for r in fit.summary(["mu", "tau", "theta"], sort="ess")]
    assert len(ess) == 10 and "theta[8]" in summary._repr_html_()
    with pytest.raises(KeyError, match="nothing"):
        summary["nothing"]
    with pytest.raises(ppl.UsageError):
        fit.summary("nothing")


def test_seed(schools, fit):
    again = schools.sample(SCHOOLS_DATA, seed=1, parallel=1, progress=False)
    other = schools.sample(SCHOOLS_DATA, seed=2, progress=False)
    assert same(again.draws["theta"], fit.draws["theta"]) and not same(other.draws["mu"], fit.draws["mu"])
    assert fit.seed == 1 and other.seed == 2
    unseeded = schools.sample(SCHOOLS_DATA, chains=1, warmup=100, draws=10, progress=False)
    assert same(schools.sample(SCHOOLS_DATA, chains=1, warmup=100, draws=10, seed=unseeded.seed).draws["mu"], unseeded.draws["mu"])


def test_findings(fit):
    assert fit.findings == []
    model = ppl.Model(text="parameters { real v; vector[9] x; }\nmodel { v ~ normal(0, 3); x ~ normal(0, exp(v / 2)); }")
    funnel = model.sample(seed=1, chains=2, warmup=100, draws=50, sampler="nuts", progress=False)
    assert funnel.findings and {f.severity for f in funnel.findings} <= {"problem", "note"}
    assert all(f.code and f.summary and f.advice for f in funnel.findings)
    assert funnel.findings[0].code in funnel._repr_html_() and "No findings" in fit._repr_html_()
    assert f"{len(funnel.findings)} findings" in repr(funnel)


def test_loo(fit):
    loo = fit.loo()
    assert loo.elpd == pytest.approx(-30.6, abs=0.5) and len(loo.pareto_k) == 8
    assert max(loo.pareto_k) < 1  # near 0.7, on either side, depending on the draws
    assert loo.estimates["looic"].estimate == pytest.approx(-2 * loo.elpd)
    assert sum(loo.pointwise["elpd"]) == pytest.approx(loo.elpd) and "elpd_loo" in str(loo) and "<table>" in loo._repr_html_()


def test_predict(schools, fit):
    y = listed(fit.predict(seed=3)["y_rep"])
    assert (len(y), len(y[0]), len(y[0][0])) == (4, 1000, 8)
    assert same(y, fit.predict(seed=3)["y_rep"]) and not same(y, fit.predict(seed=4)["y_rep"])
    normal = ppl.Model(text="data { int N; vector[N] x; vector[N] y; }\nparameters { real b; }\nmodel { b ~ normal(0, 1); y ~ normal(b * x, 0.1); }")
    line = normal.sample({"N": 3, "x": [1, 2, 3], "y": [2, 4, 6]}, **SHORT)
    new = listed(line.predict({"N": 2, "x": [10, 20]})["y_rep"])
    assert len(new[0][0]) == 2
    assert sum(d[1] for c in new for d in c) / 200 == pytest.approx(40, abs=1)
    with pytest.raises(ppl.DataError, match="x"):
        line.predict({"N": 2})


def test_groups(fit):
    assert len(listed(fit.group("log_likelihood")["log_lik"])[0][0]) == 8
    assert listed(fit.group("observed_data")["y"])[:2] == [28, 8]
    assert "mu" in fit.group("prior")
    with pytest.raises((KeyError, ppl.UsageError)):
        fit.group("nothing")


def test_report(fit, tmp_path):
    assert fit.report(quick=True)._repr_html_().startswith("<iframe")
    fit.report(tmp_path / "r.html", title="Schools & more", quick=True)
    assert "Schools &amp; more" in (tmp_path / "r.html").read_text()


def test_save_load_pickle(fit, schools, tmp_path):
    saved = fit.save(tmp_path / "saved")
    for again in (saved, ppl.load(tmp_path / "saved"), pickle.loads(pickle.dumps(fit))):
        assert same(again.draws["theta"], fit.draws["theta"]) and again.summary()["mu"] == fit.summary()["mu"]
        assert again.findings == fit.findings
    assert pickle.loads(pickle.dumps(saved)).folder == tmp_path / "saved"
    kept = schools.sample(SCHOOLS_DATA, out=tmp_path / "kept", **SHORT)
    draws = kept.draws["mu"]
    del kept
    assert same(ppl.load(tmp_path / "kept").draws["mu"], draws)
    with pytest.raises(ppl.RunError, match="already"):
        schools.sample(SCHOOLS_DATA, out=tmp_path / "kept", **SHORT)
    with pytest.raises(FileNotFoundError):
        ppl.load(tmp_path / "none")


def test_load_csv(fit, tmp_path):
    from ppl._engine import run

    assert run(["run", str(SCHOOLS), "--data", str(SCHOOLS_DATA), "--seed", "1", "--out", str(tmp_path / "csv"), "-q"]).code == 0
    loaded = ppl.load(tmp_path / "csv")
    assert same(loaded.draws["theta"], fit.draws["theta"]) and loaded.loo().elpd == fit.loo().elpd


def test_temporary_folders(schools):
    fit = schools.sample(SCHOOLS_DATA, **SHORT)
    folder, draws = fit.folder, fit.draws
    del fit
    gc.collect()
    assert listed(draws["mu"]) and folder.exists()  # the draws still refer to it
    del draws
    gc.collect()
    assert not folder.exists()


def test_options(schools, fit):
    started = schools.sample(SCHOOLS_DATA, init={"mu": 1.0, "tau": 2.0}, sampler="nuts", delta=0.9, max_depth=5, **SHORT)
    assert max(v for chain in listed(started.sample_stats["tree_depth"]) for v in chain) <= 5
    assert schools.sample(SCHOOLS_DATA, init=fit, sampler="nuts", **SHORT).document["chains"] == 2
    with pytest.raises(ppl.UsageError, match="no option max_dept") as caught:
        schools.sample(SCHOOLS_DATA, max_dept=5)
    assert caught.value.code == 2 and isinstance(caught.value, ValueError)
    with pytest.raises(ppl.UsageError, match="chains"):
        schools.sample(SCHOOLS_DATA, chains=0)


def test_failed_run():
    model = ppl.Model(text='parameters { real x; }\nmodel { if (x < 1e9) reject("never ", 7); }')
    with pytest.raises(ppl.RunError, match="never 7") as caught:
        model.sample(**SHORT)
    assert caught.value.code == 1
    assert pickle.loads(pickle.dumps(caught.value)).text == caught.value.text


def test_xarray_pandas_arviz(fit):
    numpy = pytest.importorskip("numpy")
    xarray = pytest.importorskip("xarray")
    data = fit.to_xarray()
    assert isinstance(data, xarray.Dataset) and data["theta"].dims == ("chain", "draw", "theta_dim_0")
    assert fit.to_xarray("sample_stats")["diverging"].dtype == bool
    pandas = pytest.importorskip("pandas")
    frame = fit.to_pandas()
    assert len(frame) == 4000 and frame["theta[2]"].iloc[1000] == fit.draws["theta"][1, 0, 1]
    assert isinstance(fit.summary().to_pandas(), pandas.DataFrame) and numpy.isclose(frame["mu"].mean(), fit.summary().to_pandas().loc["mu", "mean"])


def test_arviz(fit):
    pytest.importorskip("arviz")
    assert "posterior" in fit.to_arviz()


def test_without_numpy(tmp_path):
    """All but arrays works without other packages: draws are nested lists."""
    script = f"""
import sys
for name in ("numpy", "pandas", "xarray"):
    sys.modules[name] = None
import ppl
fit = ppl.Model({str(SCHOOLS)!r}).sample({str(SCHOOLS_DATA)!r}, seed=1, save_warmup=True)
theta = fit.draws["theta"]
assert type(theta) is list and (len(theta), len(theta[0]), len(theta[0][0])) == (4, 1000, 8)
assert type(fit.sample_stats["diverging"][0][0]) is bool and type(fit.sample_stats["n_steps"][0][0]) is int
print(theta[3][999][7], fit.summary()["mu"]["mean"], fit.predict()["y_rep"][0][0][0] != 0)
"""
    out = subprocess.run([sys.executable, "-c", script], stdout=subprocess.PIPE, check=True, env=os.environ).stdout.split()
    fit = ppl.Model(SCHOOLS).sample(SCHOOLS_DATA, seed=1, progress=False)
    assert float(out[0]) == listed(fit.draws["theta"])[3][999][7] and math.isfinite(float(out[1])) and out[2] == b"True"


def test_chunks(tmp_path):
    """Arrays in several chunks, with a part of the last beyond the array."""
    model = ppl.Model(text="parameters { vector[270] x; }\nmodel { x ~ normal(0, 1); }\ngenerated quantities { vector[270] y = x + 1; real s = sum(x); }")
    fit = model.sample(seed=1, chains=2, warmup=100, draws=1013, progress=False)
    about = json.loads(next(fit.folder.glob("*.zarr/posterior/y/zarr.json")).read_text())
    assert about["chunk_grid"]["configuration"]["chunk_shape"] != about["shape"]
    x, y, s = (fit.draws[n] for n in ("x", "y", "s"))
    for chain, draw in ((0, 0), (0, 1012), (1, 511), (1, 1012)):
        assert list(y[chain][draw]) == [v + 1 for v in x[chain][draw]]
        assert s[chain][draw] == pytest.approx(sum(x[chain][draw]), abs=1e-9)


def test_missing_values():
    pytest.importorskip("pandas")
    program = ppl.Model(text="data { int N; vector<missing>[N] y; array[2] vector<missing>[2] z; } parameters { real mu; } model { mu ~ normal(0, 1); y ~ normal(mu, 1); for (i in 1:2) z[i] ~ normal(mu, 1); }")
    nan = float("nan")
    fit = program.sample({"N": 4, "y": [0.5, nan, 1.0, nan], "z": [[1.0, 2.0], [nan, 0.0]]}, seed=1, chains=1, warmup=100, draws=20, progress=False)
    names = [n for n in fit.to_pandas().columns if n[0] in "yz"]
    assert names == ["y[2]", "y[4]", "z[2,1]"]
    assert fit.draws._place("y", [1]) == "4" and [r["name"] for r in fit.summary() if r["name"][0] in "yz"] == names
