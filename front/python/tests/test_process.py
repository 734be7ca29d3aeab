"""Processes: Ctrl-C, a killed parent, threads, spawn, progress."""

import concurrent.futures
import multiprocessing
import os
import signal
import subprocess
import sys
import threading
import time

import pytest

import ppl
from conftest import SCHOOLS, SCHOOLS_DATA

posix = pytest.mark.skipif(os.name != "posix", reason="signals of Unix")

# Python installs no handler where SIGINT is ignored, as in a job that a shell has put behind.
LONG = f"""
import ppl, signal
signal.signal(signal.SIGINT, signal.default_int_handler)
model = ppl.Model({str(SCHOOLS)!r})
def begun(p):
    print("begun", p.chain, flush=True)
try:
    model.sample({str(SCHOOLS_DATA)!r}, seed=1, sampler="nuts", warmup=500_000_000, progress=begun)
except KeyboardInterrupt:
    print("interrupted", flush=True)
"""


def children(pid):
    out = subprocess.run(["ps", "-o", "pid=", "--ppid", str(pid)], stdout=subprocess.PIPE).stdout.split()
    return [int(p) for p in out]


def alive(pid):
    """Reports whether a process runs; one that has ended and waits for its parent does not."""
    try:
        with open(f"/proc/{pid}/stat") as f:
            return f.read().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False


def begin(tmp_path):
    process = subprocess.Popen([sys.executable, "-c", LONG], stdout=subprocess.PIPE, env={**os.environ, "TMPDIR": str(tmp_path)})
    assert process.stdout.readline().startswith(b"begun")
    (engine,) = children(process.pid)
    return process, engine


def wait_for_end(pid):
    deadline = time.monotonic() + 30
    while alive(pid):
        assert time.monotonic() < deadline, "the engine goes on"
        time.sleep(0.02)


linux = pytest.mark.skipif(not os.path.exists("/proc/self/stat"), reason="/proc of Linux")


@posix
@linux
def test_interrupt(tmp_path):
    process, engine = begin(tmp_path)
    process.send_signal(signal.SIGINT)  # as in a notebook: to this process alone
    out, _ = process.communicate(timeout=60)
    assert process.returncode == 0 and out.rstrip().endswith(b"interrupted")
    assert not alive(engine) and os.listdir(tmp_path) == []


@posix
@linux
def test_killed(tmp_path):
    process, engine = begin(tmp_path)
    process.kill()
    process.wait()
    wait_for_end(engine)


def test_error_in_progress(schools):
    """An exception of the caller's function ends the run, and reaches the caller."""

    def wrong(p):
        raise RuntimeError("mine")

    with pytest.raises(RuntimeError, match="mine"):
        schools.sample(SCHOOLS_DATA, sampler="nuts", warmup=500_000_000, progress=wrong)


def test_progress(schools):
    seen = []
    schools.sample(SCHOOLS_DATA, seed=1, chains=2, progress=seen.append)
    assert {p.chain for p in seen} == {1, 2} and {p.phase for p in seen} == {"warm-up", "sampling"}
    assert {p.chain for p in seen if p.iteration == p.total} == {1, 2}


@posix
def test_terminal():
    """On a terminal, a line of progress is written over, and ends with a line break."""
    import pty

    master, slave = pty.openpty()
    script = f"import ppl; ppl.Model({str(SCHOOLS)!r}).sample({str(SCHOOLS_DATA)!r}, seed=1)"
    process = subprocess.Popen([sys.executable, "-c", script], stderr=slave, stdin=subprocess.DEVNULL)
    os.close(slave)
    shown = b""
    while True:
        try:
            text = os.read(master, 65536)
        except OSError:
            break
        if not text:
            break
        shown += text
    os.close(master)
    assert process.wait() == 0
    assert b"\r[####################] 100 %, 4 of 4 chains done" in shown and shown.endswith(b"\n")


def draw(seed):
    fit = ppl.Model(SCHOOLS).sample(SCHOOLS_DATA, seed=seed, chains=1, warmup=200, draws=100, progress=False)
    return fit


def mean(fit):
    return fit.summary()["mu"]["mean"]


def test_spawn():
    """Four processes, which send their fits back."""
    with concurrent.futures.ProcessPoolExecutor(4, mp_context=multiprocessing.get_context("spawn")) as pool:
        fits = list(pool.map(draw, range(4)))
    assert len({mean(f) for f in fits}) == 4
    assert mean(fits[2]) == mean(draw(2)) and len(fits[2].draws["mu"][0]) == 100


def test_threads(schools):
    threads = threading.active_count()
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        fits = list(pool.map(draw, [1, 2, 1, 2]))
    means = [mean(f) for f in fits]
    assert means[0] == means[2] != means[1] == means[3]
    assert threading.active_count() == threads


def test_command():
    """The package is also the command."""
    shown = subprocess.run([sys.executable, "-m", "ppl", "version"], stdout=subprocess.PIPE, check=True)
    assert shown.stdout.startswith(b"ppl")
    assert subprocess.run([sys.executable, "-m", "ppl", "nothing"], stderr=subprocess.DEVNULL).returncode == 2


def test_notebook(schools, monkeypatch):
    """In a notebook, one element is shown and then replaced; a module made here takes IPython's place."""
    import types

    shown = []

    class HTML:
        def __init__(self, data):
            self.data = data

    class Handle:
        def update(self, element):
            shown.append(element.data)

    def display(element, display_id):
        shown.append(element.data)
        return Handle()

    class ZMQInteractiveShell:
        pass

    ipython = types.ModuleType("IPython")
    ipython.get_ipython = ZMQInteractiveShell
    ipython.display = types.ModuleType("IPython.display")
    ipython.display.HTML, ipython.display.display = HTML, display
    monkeypatch.setitem(sys.modules, "IPython", ipython)
    monkeypatch.setitem(sys.modules, "IPython.display", ipython.display)
    schools.sample(SCHOOLS_DATA, seed=1)
    assert "value='1.0000'" in shown[-1] and "4 of 4 chains done" in shown[-1]
    model = ppl.Model(text='parameters { real<lower=0, upper=1> x; }\nmodel { print("<b>"); }')
    model.sample(seed=1, chains=1, warmup=5, draws=2)
    assert "&lt;b&gt;" in shown[-1] and "<b>" not in shown[-1]


def test_no_engine(monkeypatch, tmp_path):
    monkeypatch.setenv("PPL_BINARY", str(tmp_path / "none"))
    with pytest.raises(ppl.RunError, match="cannot start .*none: No such file"):
        ppl.Model(text="parameters { real x; }\nmodel { x ~ normal(0, 1); }")
