"""Models: what is wrong with them, and where."""

import pickle

import pytest

import ppl
from conftest import NORMAL, SCHOOLS


def test_wrong_model_has_places():
    text = "data { int N; vector[N] y; }\nparameters { real mu; real x }\nmodel { y ~ normal(mu, sigma); }"
    with pytest.raises(ppl.ModelError) as caught:
        ppl.Model(text=text, name="mine")
    first, second = caught.value.messages
    assert (first.code, first.place.file, first.place.line, first.place.column) == ("E0101", "mine", 2, 29)
    assert (second.code, second.place.line, second.place.column, second.end.column) == ("E0201", 3, 24, 29)
    assert "mine:3:24: error: `sigma` is not declared [E0201]" in str(caught.value)
    assert "help: end the declaration with `;`" in str(caught.value)
    assert pickle.loads(pickle.dumps(caught.value)).messages == caught.value.messages


def test_wrong_file_has_its_path(tmp_path):
    file = tmp_path / "wrong.stan"
    file.write_text("parameters { real x }\n")
    with pytest.raises(ppl.ModelError) as caught:
        ppl.Model(file)
    assert caught.value.messages[0].place.file == str(file)


def test_no_file(tmp_path):
    with pytest.raises(FileNotFoundError):
        ppl.Model(tmp_path / "none.stan")
    for wrong in ({}, {"path": SCHOOLS, "text": NORMAL}):
        with pytest.raises(TypeError):
            ppl.Model(**wrong)


def test_warnings():
    with pytest.warns(UserWarning, match="W0"):
        model = ppl.Model(text="parameters { real x; real y; }\nmodel { x ~ normal(0, 1 / 2); }")
    assert [m.severity for m in model.messages] == ["warning"] * len(model.messages)


def test_includes(tmp_path):
    (tmp_path / "inc").mkdir()
    (tmp_path / "inc" / "f.stan").write_text("real twice(real x) { return 2 * x; }\n")
    text = "functions {\n#include f.stan\n}\nparameters { real x; }\nmodel { twice(x) ~ normal(0, 1); }\n"
    with pytest.raises(ppl.ModelError):
        ppl.Model(text=text)
    assert not ppl.Model(text=text, include_paths=[tmp_path / "inc"]).messages


def test_pickle(normal):
    again = pickle.loads(pickle.dumps(normal))
    assert (again.text, again.name, again.path) == (normal.text, "normal", None)
    assert "eight_schools" in repr(ppl.Model(SCHOOLS))


def test_version():
    assert ppl.__version__ == ppl.version() != ""
