"""Log densities in process, by libppl."""

import concurrent.futures
import math
import multiprocessing
import os
import pickle

import pytest

import ppl
from conftest import SCHOOLS_DATA
from ppl._carried import library

try:
    library()
except ppl.LibraryError:
    pytest.skip("there is no libppl: neither PPL_LIBRARY nor the package ppl_library", allow_module_level=True)

Y = [1.5, -0.25, 2.0]


@pytest.fixture(scope="module")
def posterior(normal):
    return normal.bind({"N": 3, "y": Y})


def exact(mu, log_sigma):
    """The log density of the model normal, and its gradient, by hand."""
    s = math.exp(log_sigma)
    lp = -0.5 * mu**2 - 0.5 * s**2 - sum(0.5 * ((y - mu) / s) ** 2 for y in Y) - 3 * log_sigma + log_sigma
    return lp, [-mu + sum(y - mu for y in Y) / s**2, -(s**2) + sum((y - mu) ** 2 for y in Y) / s**2 - 2]


def test_gradient(posterior):
    assert posterior.dim == 2 and posterior.unconstrained_names == ["mu", "sigma"] and posterior.names() == ["mu", "sigma"]
    for x in ([0.1, 0.2], [-1.0, 0.0], [2.0, -1.5]):
        want, slope = exact(*x)
        got, gradient = posterior.log_density_gradient(x)
        assert got == pytest.approx(want, rel=1e-12) and list(gradient) == pytest.approx(slope, rel=1e-12)
        assert posterior.log_density(x) == pytest.approx(want, rel=1e-12)
        assert posterior.log_density(x, jacobian=False) == pytest.approx(want - x[1], rel=1e-12)
        half = 2.5 * math.log(2 * math.pi)
        assert posterior.log_density(x, propto=False) == pytest.approx(want - half, rel=1e-12)


def test_hessian(posterior):
    x, h = [0.3, -0.2], 1e-5
    _, _, hessian = posterior.log_density_hessian(x)
    for i in range(2):
        up, down = list(x), list(x)
        up[i], down[i] = x[i] + h, x[i] - h
        row = [(a - b) / (2 * h) for a, b in zip(exact(*up)[1], exact(*down)[1])]
        assert list(hessian[i]) == pytest.approx(row, rel=1e-6)


def test_transforms(posterior, schools):
    x = posterior.unconstrain({"mu": 0.5, "sigma": 2.0})
    assert list(x) == pytest.approx([0.5, math.log(2)]) and list(posterior.constrain(x)) == pytest.approx([0.5, 2.0])
    bound = schools.bind(SCHOOLS_DATA)
    names = bound.names(transformed=True, generated=True)
    values = bound.constrain([0.1] * bound.dim, transformed=True, generated=True, seed=3)
    assert len(values) == len(names) > bound.dim
    assert list(values) == list(bound.constrain([0.1] * bound.dim, transformed=True, generated=True, seed=3))
    assert list(values) != list(bound.constrain([0.1] * bound.dim, transformed=True, generated=True, seed=4))


def test_optimiser(normal, posterior):
    """scipy finds the mode, where the gradient vanishes."""
    optimize = pytest.importorskip("scipy.optimize")
    numpy = pytest.importorskip("numpy")

    def negative(x):
        lp, gradient = posterior.log_density_gradient(x)
        return -lp, -gradient

    found = optimize.minimize(negative, numpy.zeros(2), jac=True, method="L-BFGS-B", options={"gtol": 1e-10, "ftol": 1e-15})
    assert numpy.abs(exact(*found.x)[1]).max() < 1e-5
    assert optimize.check_grad(posterior.log_density, lambda x: posterior.log_density_gradient(x)[1], numpy.array([0.3, -0.4])) < 1e-6


def test_wrong(normal, posterior):
    with pytest.raises(ppl.DataError, match="no value for `y`") as caught:
        normal.bind({"N": 3})
    assert caught.value.messages[0].place.file == "normal"
    with pytest.raises(ppl.DataError, match="wrong size"):
        normal.bind({"N": 3, "y": [1]})
    with pytest.raises(ppl.DataError):
        normal.bind("data.csv")
    for x in ([0.1], [0.1, 0.2, 0.3]):
        with pytest.raises(ValueError, match="expected 2"):
            posterior.log_density(x)
    with pytest.raises(ppl.RunError):
        posterior.unconstrain({"mu": 0.5})
    rejecting = ppl.Model(text='parameters { real x; }\nmodel { if (x > 1) reject("too large: ", x); x ~ normal(0, 1); }').bind()
    assert rejecting.log_density([0.5]) == -0.125
    with pytest.raises(ppl.RunError, match="too large: 2"):
        rejecting.log_density([2.0])


def test_frame(normal, posterior):
    pandas = pytest.importorskip("pandas")
    bound = normal.bind(pandas.DataFrame({"y": Y}), count="N")
    assert bound.log_density([0.1, 0.2]) == posterior.log_density([0.1, 0.2])


def test_threads(posterior):
    points = [[i / 100, -i / 200] for i in range(200)]
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        got = list(pool.map(posterior.log_density, points))
    assert got == [posterior.log_density(x) for x in points]


def density(posterior):
    return posterior.log_density([0.1, 0.2])


def test_spawn(posterior):
    with concurrent.futures.ProcessPoolExecutor(2, mp_context=multiprocessing.get_context("spawn")) as pool:
        assert list(pool.map(density, [posterior] * 2)) == [density(posterior)] * 2
    assert density(pickle.loads(pickle.dumps(posterior))) == density(posterior)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="fork of Unix")
def test_fork(posterior):
    """After a fork, the library would hang: it is an error."""
    pid = os.fork()
    if pid == 0:
        try:
            density(posterior)
        except ppl.LibraryError:
            os._exit(7)
        os._exit(0)
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 7


def test_includes(tmp_path):
    """What a file includes is found in its folder."""
    (tmp_path / "f.stan").write_text("real twice(real x) { return 2 * x; }\n")
    (tmp_path / "m.stan").write_text("functions {\n#include f.stan\n}\nparameters { real x; }\nmodel { twice(x) ~ normal(0, 1); }\n")
    assert ppl.Model(tmp_path / "m.stan").bind().log_density([0.5]) == -0.5


def test_missing_library(normal, monkeypatch, tmp_path):
    monkeypatch.setenv("PPL_LIBRARY", str(tmp_path / "none.so"))
    with pytest.raises(ppl.LibraryError, match="none.so"):
        normal.bind({"N": 3, "y": Y})


def test_same_as_the_program(schools, fit):
    """lp of a fit is the log density at its draws."""
    bound = schools.bind(SCHOOLS_DATA)
    lp = fit.sample_stats["lp"]
    draws = fit.draws
    for chain, draw in ((0, 0), (3, 999)):
        values = {n: draws[n][chain][draw] for n in ("mu", "tau", "theta_raw")}
        assert bound.log_density(bound.unconstrain(values)) == pytest.approx(lp[chain][draw], abs=1e-9)
