"""Data of all kinds, and what is wrong with them."""

import array
import json

import pytest

import ppl
from conftest import SCHOOLS_DATA

Y = [1.5, -0.25, 2.0]
SHORT = {"seed": 1, "chains": 1, "warmup": 100, "draws": 50, "progress": False}


def lp(fit):
    return [float(v) for chain in fit.sample_stats["lp"] for v in chain]


@pytest.fixture(scope="module")
def want(normal):
    return lp(normal.sample({"N": 3, "y": Y}, **SHORT))


def test_containers(normal, want, tmp_path):
    file = tmp_path / "d.json"
    file.write_text(json.dumps({"N": 3, "y": Y}))
    for data in ({"N": 3, "y": tuple(Y)}, {"N": 3, "y": array.array("d", Y)}, {"N": 3, "y": (v for v in Y)}, file, str(file)):
        assert lp(normal.sample(data, **SHORT)) == want


def test_numpy_pandas_xarray(normal, want):
    numpy = pytest.importorskip("numpy")
    y = numpy.array(Y)
    assert lp(normal.sample({"N": numpy.int64(3), "y": y, "unused": numpy.float32(1)}, **SHORT)) == want
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"y": Y, "who": ["a", "b, c", 'd"'], "yes": [True, False, True]})
    assert lp(normal.sample(frame, count="N", **SHORT)) == want
    assert lp(normal.sample({"N": 3, "y": frame["y"]}, **SHORT)) == want
    xarray = pytest.importorskip("xarray")
    assert lp(normal.sample(xarray.Dataset({"y": ("N", y)}), **SHORT)) == want
    assert lp(normal.sample({"N": 3, "y": xarray.DataArray(y)}, **SHORT)) == want


def test_polars(normal, want):
    polars = pytest.importorskip("polars")
    frame = polars.DataFrame({"y": Y, "yes": [True, False, True]})
    assert lp(normal.sample(frame, count="N", **SHORT)) == want


def test_levels():
    pandas = pytest.importorskip("pandas")
    model = ppl.Model(
        text="data { int N; int J; vector[N] y; array[N] int<lower=1, upper=J> school; }\n"
        "parameters { vector[J] a; }\nmodel { a ~ normal(0, 1); y ~ normal(a[school], 1); }"
    )
    frame = pandas.DataFrame({"y": [1.0, 2.0, 3.0], "school": ["Bolton", "Acton", "Bolton"]})
    fit = model.sample(frame, count=["N", "J=school"], **SHORT)
    xarray = pytest.importorskip("xarray")
    assert isinstance(fit.to_xarray(), xarray.Dataset)
    assert list(fit.to_xarray()["a"].coords["school"].values) == ["Acton", "Bolton"]


def test_kinds_of_numbers():
    """Logical, complex and integer values, nested lists and tuples, numbers that are not finite."""
    model = ppl.Model(
        text="data { int b; complex z; array[2, 3] int k; matrix[2, 2] m; tuple(int, real) t; array[2] complex w; real inf; }\n"
        "parameters { real x; }\nmodel { x ~ normal(0, 1); }\n"
        "generated quantities {\n  int b2 = b; complex z2 = z; array[2, 3] int k2 = k; matrix[2, 2] m2 = m; real t2 = t.2;\n"
        "  array[2] complex w2 = w; real inf2 = inf; array[0] real none;\n}"
    )
    data = {"b": True, "z": 1 + 2j, "k": [range(3), (3, 4, 5)], "m": [[1, 2], [3, 4.5]], "t": {"1": 1, "2": 2.5}, "w": [1j, 2], "inf": float("-inf")}
    draws = model.sample(data, **SHORT).draws
    first = {name: getattr(values[0][0], "tolist", lambda v=values[0][0]: v)() for name, values in draws.items()}
    assert first["b2"] == 1 and first["z2"] == 1 + 2j and first["k2"] == [[0, 1, 2], [3, 4, 5]] and first["m2"] == [[1, 2], [3, 4.5]]
    assert first["t2"] == 2.5 and first["w2"] == [1j, 2] and first["inf2"] == float("-inf") and first.get("none", []) == []


def test_missing(normal):
    for data in (None, {}, {"N": 3}):
        with pytest.raises(ppl.DataError) as caught:
            normal.sample(data, **SHORT)
        (message,) = caught.value.messages
        assert message.code == "E0601" and message.place.file == "normal" and "stdin" not in str(caught.value)
    assert isinstance(caught.value, ValueError)


def test_missing_column(normal):
    pandas = pytest.importorskip("pandas")
    with pytest.raises(ppl.DataError, match="no value for `y`"):
        normal.sample(pandas.DataFrame({"x": [1.0]}), count="N", **SHORT)
    with pytest.raises(ppl.DataError, match="row 2"):
        normal.sample(pandas.DataFrame({"y": [1.0, None]}), count="N", **SHORT)


def test_wrong(normal, tmp_path):
    with pytest.raises(ppl.DataError) as caught:
        normal.sample({"N": 3, "y": [1, 2]}, **SHORT)
    (message,) = caught.value.messages
    assert (message.code, message.place.file, message.place.line) == ("E0602", "data", 1)
    assert message.notes[0].file == "normal" and message.notes[0].line == 3
    for data, word in (
        ({"N": 3, "y": object()}, "object"), ({"N": 3, "y": [None]}, "NoneType"), ({"N": 3, "y": b"x"}, "bytes"), (3, "int"),
        ({"N": 2, "y": ["a", "b"]}, "string"), (tmp_path / "none.json", "cannot read the data"),
    ):  # fmt: skip
        with pytest.raises(ppl.DataError, match=word):
            normal.sample(data, **SHORT)


def test_million_rows(normal):
    """The log density at 10^6 rows, against the same in Python; a run of few draws."""
    numpy = pytest.importorskip("numpy")
    pandas = pytest.importorskip("pandas")
    y = numpy.random.default_rng(1).normal(1.0, 2.0, 1_000_000)
    fit = normal.sample(pandas.DataFrame({"y": y}), count="N", seed=1, chains=1, warmup=30, draws=10, progress=False)
    assert abs(fit.draws["mu"].mean() - y.mean()) < 0.02 and abs(fit.draws["sigma"].mean() - y.std()) < 0.02
    mu, sigma, lp = (a[0][0] for a in (fit.draws["mu"], fit.draws["sigma"], fit.sample_stats["lp"]))
    want = -0.5 * mu**2 - 0.5 * sigma**2 - (0.5 * ((y - mu) / sigma) ** 2).sum() - len(y) * numpy.log(sigma) + numpy.log(sigma)
    assert abs(lp - want) < 1e-7 * abs(want)


def test_schools_as_dict(schools, fit):
    again = schools.sample(json.loads(SCHOOLS_DATA.read_text()), seed=1, progress=False)
    assert lp(again) == lp(fit)
