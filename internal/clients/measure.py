"""Times CmdStanPy on ppl: from CmdStanModel(stan_file=…) to the summary of four chains.

    python3 measure.py DIR

DIR has models NAME.stan with data NAME.json, where a - in the name of a model is a _, and
ref.json: a list of [name, processor seconds that CmdStan took to compile the model,
processor seconds that its four chains took], recorded before. Processor seconds are those
of all processes that were started, so that they hardly depend on what else the machine
does; Python's own are apart.
"""
import json
import logging
import math
import os
import resource
import subprocess
import sys
import time

import cmdstanpy

logging.getLogger("cmdstanpy").setLevel(logging.ERROR)


def children():
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def mean(ratios):
    return math.exp(sum(map(math.log, ratios)) / len(ratios))


folder = sys.argv[1]
compilation, whole = [], []
print("| posterior | ppl, wall, s | processor, s | make | chains | CmdStan's compilation | chains |\n|---|---|---|---|---|---|---|")
for name, compiled, sampled in json.load(open(os.path.join(folder, "ref.json"))):
    stan = os.path.join(folder, name.replace("-", "_") + ".stan")
    exe = stan[:-5]
    if os.path.exists(exe):
        os.remove(exe)
    begun, used = time.time(), children()
    model = cmdstanpy.CmdStanModel(stan_file=stan)
    built = children() - used
    fit = model.sample(data=os.path.join(folder, name + ".json"), seed=1, show_progress=False)
    chains = children() - used - built
    fit.summary()
    total, wall = children() - used, time.time() - begun
    compilation.append(compiled / total)
    whole.append((compiled + sampled) / total)
    print(f"| {name} | {wall:.2f} | {total:.2f} | {built:.2f} | {chains:.2f} | {compiled:.1f} | {sampled:.1f} |", flush=True)
print(f"\nIn the geometric mean, CmdStan's compilation alone takes {mean(compilation):.1f} times ppl's whole, "
      f"compilation and chains {mean(whole):.1f} times.")
starts = []
for _ in range(100):
    begun = time.time()
    subprocess.run([exe, "info"], stdout=subprocess.DEVNULL, check=True)
    starts.append(time.time() - begun)
print(f"An executable starts in {1000 * min(starts):.1f} ms (least of 100), {1000 * sorted(starts)[50]:.1f} ms in the median.")
