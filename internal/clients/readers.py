"""Reads the files of every sampler, and those that executables write for other engines, with
CmdStanPy.

    python3 readers.py ppl DIR [CMDSTAN]

DIR has eight_schools.model, its data and, for the engines, CMDSTAN is a folder of
ppl cmdstan-home. Prints a line for each; the exit code is 1 if one cannot be read. The runs stay
in DIR/readers for other readers, see readers.R.
"""
import glob
import logging
import os
import shutil
import subprocess
import sys

import cmdstanpy

logging.getLogger("cmdstanpy").setLevel(logging.CRITICAL)
ppl, folder = sys.argv[1:3]
model = os.path.join(folder, "eight_schools.model")
data = os.path.join(folder, "eight_schools.data.json")
base = os.path.join(folder, "readers")
shutil.rmtree(base, ignore_errors=True)
failed = 0


def check(name, what):
    global failed
    try:
        print(f"READERS ok CmdStanPy {name}: {what()}")
    except Exception as e:  # each by itself
        failed = 1
        print(f"READERS FAIL CmdStanPy {name}: {type(e).__name__}: {e}")


def read(files, draws):
    fit = cmdstanpy.from_csv(files)
    assert fit.draws().shape[0] == draws, fit.draws().shape
    assert fit.metric is not None and fit.step_size is not None
    return f"{fit.draws().shape}, metric {fit.metric.shape}"


runs = {s: ["--sampler", s] for s in ["auto", "nuts", "hmc", "ahmc", "rmhmc", "armhmc", "nuts2011"]}
for kind in ["unit_e", "dense_e", "low_rank", "softabs"]:
    runs["nuts_" + kind] = ["--sampler", "nuts", "--metric", kind]
runs["auto_declared"] = ["--recentre", "off"]
runs["auto_warmup"] = ["--save-warmup"]
runs["auto_digits"] = ["--sig-figs", "6", "--thin", "3"]
for name, options in runs.items():
    out = os.path.join(base, name)
    subprocess.run([ppl, "run", model, "--data", data, "--seed", "1", "--warmup", "300", "--draws", "300", "-q", "--out", out] + options,
                   check=True, stdout=subprocess.DEVNULL)
    check(name, lambda: read(sorted(glob.glob(out + "/*.csv")), 100 if "--thin" in options else 300))

if len(sys.argv) > 3:
    cmdstanpy.set_cmdstan_path(sys.argv[3])
    shutil.copy(model, os.path.join(base, "schools.stan"))
    compiled = cmdstanpy.CmdStanModel(stan_file=os.path.join(base, "schools.stan"))
    for engine in ["auto", "hmc", "ahmc batches=20", "nuts2011", "rmhmc", "armhmc"]:
        for warmup in [False, True]:
            os.environ["PPL_ENGINE"] = engine

            def sample():
                fit = compiled.sample(data=data, seed=1, chains=2, iter_warmup=300, iter_sampling=300, show_progress=False, save_warmup=warmup)
                assert fit.draws().shape[0] == 300 and fit.metric is not None
                return read(fit.runset.csv_files, 300)

            check(f"PPL_ENGINE={engine}, save_warmup={warmup}", sample)
else:
    print("READERS skip engines: no folder of ppl cmdstan-home is given")
sys.exit(failed)
