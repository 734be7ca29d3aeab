"""Describe how your data arise, in Stan's language; ppl samples the posterior.

    import ppl

    model = ppl.Model("eight_schools.stan")
    fit = model.sample({"J": 8, "y": y, "sigma": sigma}, seed=1)
    print(fit.summary())
    fit.draws["theta"]            # (chain, draw, 8)
    fit.findings                  # what is wrong, and what to do about it

The package starts the program ppl, which its wheel brings along; there is no compiler and no
other requirement. numpy, pandas, polars, xarray and arviz are used where they are installed.

    _model.py      Model: checked text, sample, optimize, bind
    _fit.py        Fit: draws, summary, findings, predictions, effects, checks, loo, report; compare
    _tables.py     Summary, Finding, Loo, Table, Optimum: what fits and models are asked for
    _posterior.py  Posterior: log density and gradient in this process, by libppl
    _engine.py     starting the program, and ending it with this process
    _carried.py    the files that wheels carry, compressed
    _data.py       data as the program reads them
    _store.py      arrays of Zarr stores, which runs are kept in
    _progress.py   progress in terminals and notebooks
    _errors.py     the exceptions
"""

from ._engine import version
from ._errors import DataError, Error, LibraryError, Message, ModelError, Place, RunError, UsageError
from ._fit import Draws, Fit, Report, compare, load
from ._model import Model
from ._posterior import Posterior
from ._progress import Progress
from ._tables import Estimate, Finding, Loo, Optimum, Summary, Table


def __getattr__(name: str) -> str:
    """The attribute __version__, for which the program is asked only if somebody wants it."""
    if name == "__version__":
        return version()
    raise AttributeError(f"module 'ppl' has no attribute {name!r}")


__all__ = [
    "DataError",
    "Draws",
    "Error",
    "Estimate",
    "Finding",
    "Fit",
    "LibraryError",
    "Loo",
    "Message",
    "Model",
    "ModelError",
    "Optimum",
    "Place",
    "Posterior",
    "Progress",
    "Report",
    "RunError",
    "Summary",
    "Table",
    "UsageError",
    "compare",
    "load",
    "version",
]
