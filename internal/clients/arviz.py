"""Reads what ppl writes with ArviZ, old and new, and compares what they compute with what
ppl says: means, R-hat, effective sample sizes, leave-one-out cross-validation.

    python3 arviz.py

in a folder with eight_schools.model, its data eight_schools.data.json, and schools.stan,
the same with a log likelihood and replicated data. Prints a line for each reader.
"""
import glob
import importlib
import json
import logging
import os
import subprocess
import sys
import warnings

import numpy as np

# This file has ArviZ's name, which the folder of a script would put before it.
sys.path = [p for p in sys.path if p not in ("", os.path.dirname(os.path.abspath(__file__)))]
warnings.simplefilter("ignore")
logging.getLogger("cmdstanpy").setLevel(logging.ERROR)
failed = []


def check(name, what):
    try:
        said = what()
        print(f"ARVIZ ok {name}: {said}")
    except Exception as e:  # each reader by itself
        failed.append(name)
        print(f"ARVIZ FAIL {name}: {type(e).__name__}: {str(e)[:500]}")


def run(*args):
    return subprocess.run(args, check=True, capture_output=True, text=True).stdout


def near(got, want, tolerance):
    assert abs(float(got) - want) <= tolerance * max(1, abs(want)), f"{float(got)} is not {want}"


import cmdstanpy
import xarray

model = cmdstanpy.CmdStanModel(stan_file="schools.stan")
fit = model.sample(data="eight_schools.data.json", seed=1, show_progress=False, save_warmup=True)
files = sorted(fit.runset.csv_files)
mean = fit.stan_variable("mu").mean()
for name in glob.glob("*.zarr"):
    subprocess.run(["rm", "-r", name], check=True)
run("ppl", "run", "eight_schools.model", "--data", "eight_schools.data.json", "--seed", "1", "--out", "fit", "--overwrite", "-q")
run("ppl", "convert", "fit", "--to", "zarr", "--out", "fit.zarr")
table = {row["name"]: row for row in json.loads(run("ppl", "summary", "fit", "--json"))["summary"]}
elpd = json.loads(run("ppl", "loo", "fit", "--json"))["estimates"]["elpd_loo"]["estimate"]
observed = {"y": np.array(json.load(open("eight_schools.data.json"))["y"])}


def groups(data):
    names = getattr(data, "groups", None)
    names = names() if callable(names) else names
    return {n.strip("/") for n in names}


def summarised(data, statistics, tail=None):
    """Compares a summary of a Zarr store with ppl's. tail computes the effective sample
    size of the tails where that of the summary is of other quantiles."""
    theirs = statistics.summary(data, round_to="none")
    column = {c.replace("_hat", "hat"): c for c in theirs.columns}
    for name in ("mu", "tau"):
        near(theirs.loc[name, column["mean"]], table[name]["mean"], 1e-6)
        near(theirs.loc[name, column.get("r_hat", column.get("rhat"))], table[name]["rhat"], 1e-6)
        near(theirs.loc[name, "ess_bulk"], table[name]["ess_bulk"], 1e-4)
        near(tail(name) if tail else theirs.loc[name, "ess_tail"], table[name]["ess_tail"], 1e-4)
    return "mean, R-hat and effective sample sizes are ppl's"


def old():
    az = importlib.import_module("arviz")

    def cmdstan():
        data = az.from_cmdstan(posterior=files, log_likelihood="log_lik", posterior_predictive="y_rep",
                               observed_data="eight_schools.data.json", observed_data_var="y", save_warmup=True,
                               coords={"school": range(8)}, dims={"theta": ["school"]})
        assert {"posterior", "log_likelihood", "posterior_predictive", "sample_stats", "observed_data",
                "warmup_posterior", "warmup_sample_stats"} <= groups(data), groups(data)
        assert data.posterior["theta"].dims == ("chain", "draw", "school")
        assert data.sample_stats["diverging"].dtype == bool
        near(data.posterior["mu"].mean(), mean, 1e-6)
        return f"{len(groups(data))} groups; elpd {az.loo(data).elpd_loo:.2f}, R-hat of mu {float(az.rhat(data)['mu']):.4f}"

    def cmdstanpy_():
        data = az.from_cmdstanpy(posterior=fit, log_likelihood="log_lik", posterior_predictive="y_rep",
                                 observed_data=observed, save_warmup=True)
        near(data.posterior["mu"].mean(), mean, 1e-6)
        return f"{len(groups(data))} groups; elpd {az.loo(data).elpd_loo:.2f}, waic {az.waic(data).elpd_waic:.2f}"

    def zarr():  # az.from_zarr refuses zarr 3 by its version, and points to this
        data = az.from_datatree(xarray.open_datatree("fit.zarr", engine="zarr"))
        assert {"posterior", "sample_stats", "log_likelihood", "observed_data"} <= groups(data), groups(data)
        near(az.loo(data).elpd_loo, elpd, 1e-3)
        return summarised(data, az)

    def plots():
        import matplotlib

        matplotlib.use("agg")
        data = az.from_datatree(xarray.open_datatree("fit.zarr", engine="zarr"))
        for draw in (az.plot_trace, az.plot_posterior, az.plot_forest, az.plot_energy, az.plot_rank):
            draw(data, **({} if draw is az.plot_energy else {"var_names": ["mu", "tau"]}))
        az.plot_pair(data, var_names=["mu", "tau"], divergences=True)
        return "trace, posterior, forest, energy, rank and pair"

    for what, name in ((cmdstan, "from_cmdstan"), (cmdstanpy_, "from_cmdstanpy"), (zarr, "from_datatree"), (plots, "plots")):
        check(f"{az.__version__} {name}", what)


def new():
    base, stats = importlib.import_module("arviz_base"), importlib.import_module("arviz_stats")
    def cmdstanpy_():
        data = base.from_cmdstanpy(fit, log_likelihood="log_lik", posterior_predictive="y_rep",
                                   observed_data=observed, save_warmup=True)
        near(data["posterior"]["mu"].mean(), mean, 1e-6)
        return f"{len(data.children)} groups; elpd {stats.loo(data).elpd:.2f}"

    def zarr():
        data = xarray.open_datatree("fit.zarr", engine="zarr")
        near(stats.loo(data).elpd, elpd, 1e-4)
        posterior = data["posterior"].dataset
        return summarised(data, stats, lambda name: stats.ess(posterior[name], method="tail", prob=(0.05, 0.95)))

    def converted():
        data = base.convert_to_datatree("fit.zarr", engine="zarr")
        near(stats.ess(data["posterior"].dataset["mu"]), table["mu"]["ess_bulk"], 1e-4)
        return f"bfmi {np.round(stats.bfmi(data)['energy'].values, 2)}"

    for what, name in ((cmdstanpy_, "from_cmdstanpy"), (zarr, "open_datatree"), (converted, "convert_to_datatree")):
        check(f"arviz_base {base.__version__} {name}", what)


old()
new()
print("ARVIZ", len(failed), "failed")
sys.exit(len(failed) > 0)
