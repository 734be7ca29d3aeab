"""Times CmdStanPy on ppl: from CmdStanModel(stan_file=…) to the summary of four chains.

    python3 measure.py DIR

DIR has models NAME.stan with data NAME.json, and ref.json: a list of [name, seconds that
CmdStan took to compile the model, seconds that its four chains took], recorded before.
"""
import json
import logging
import math
import os
import sys
import time

import cmdstanpy

logging.getLogger("cmdstanpy").setLevel(logging.ERROR)
folder = sys.argv[1]
ratios = []
print("| posterior | model to summary, s | of which make, s | CmdStan's compilation, recorded, s |\n|---|---|---|---|")
for name, compiled, sampled in json.load(open(os.path.join(folder, "ref.json"))):
    stan = os.path.join(folder, name.replace("-", "_") + ".stan")
    exe = stan[:-5]
    if os.path.exists(exe):
        os.remove(exe)
    begun = time.time()
    model = cmdstanpy.CmdStanModel(stan_file=stan)
    built = time.time() - begun
    fit = model.sample(data=os.path.join(folder, name + ".json"), seed=1, show_progress=False)
    fit.summary()
    total = time.time() - begun
    ratios.append(compiled / total)
    print(f"| {name} | {total:.2f} | {built:.2f} | {compiled:.1f} |", flush=True)
print(f"\nCompilation alone took {math.exp(sum(map(math.log, ratios)) / len(ratios)):.1f} times as long, in the geometric mean.")
