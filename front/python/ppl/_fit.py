"""Fits: the draws of a run, and what follows from them."""

from __future__ import annotations

import html
import os
import shutil
import tempfile
import weakref
from pathlib import Path
from typing import Any, Iterable, Iterator, Mapping, Optional, Sequence, Union

from . import _data
from ._engine import Result, run
from ._errors import DataError, Message, RunError, UsageError
from ._store import Group
from ._tables import Finding, Loo, Summary, Table, checks_table, comparison_table, effects_table, findings_html

StrPath = Union[str, "os.PathLike[str]"]


def _remove(path: str, owner: int) -> None:
    if os.getpid() == owner:  # not in a process that was forked
        shutil.rmtree(path, ignore_errors=True)


class Folder:
    """The folder of a run; a temporary one is removed when nothing refers to it."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._finalizer: Optional[Any] = None

    @classmethod
    def temporary(cls) -> Folder:
        """A new folder that is removed with the last reference, or at the end of the process."""
        folder = cls(Path(tempfile.mkdtemp(prefix="ppl-")))
        folder._finalizer = weakref.finalize(folder, _remove, str(folder.path), os.getpid())
        return folder

    def remove(self) -> None:
        """Removes a temporary folder; others stay."""
        if self._finalizer is not None:
            self._finalizer()

    def __getstate__(self) -> dict[str, Any]:
        """A temporary folder goes with its contents, so that another process can have the fit."""
        if self._finalizer is None:
            return {"path": self.path}
        files = [p for p in self.path.rglob("*") if p.is_file()]
        return {"files": [(p.relative_to(self.path).as_posix(), p.read_bytes()) for p in files]}

    def __setstate__(self, state: Mapping[str, Any]) -> None:
        if "path" in state:
            self.__init__(state["path"])  # type: ignore[misc]
            return
        other = Folder.temporary()
        for name, content in state["files"]:
            (other.path / name).parent.mkdir(parents=True, exist_ok=True)
            (other.path / name).write_bytes(content)
        self.path = other.path
        if other._finalizer is not None:
            other._finalizer.detach()
        self._finalizer = weakref.finalize(self, _remove, str(self.path), os.getpid())


class Draws(Mapping[str, Any]):
    """Arrays by the names of variables, with the dimensions chain, draw, and the variable's own.

    They are arrays of numpy or, where it is not installed, nested lists.
    """

    def __init__(self, store: Folder, path: Path, group: str) -> None:
        self._store = store  # which is removed when nothing refers to it
        self._group = Group(path / group)

    def __getitem__(self, name: str) -> Any:
        return self._group[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._group)

    def __len__(self) -> int:
        return len(self._group)

    def __repr__(self) -> str:
        return f"Draws({', '.join(self)})"

    def _place(self, name: str, index: Sequence[int]) -> str:
        """The indices of an element, as messages have them: 2,3. Of missing values they are those in the data."""
        dimensions = self._group.dimensions(name)[2:]
        if len(index) == 1 and dimensions == [f"{name}_dim_0"] and dimensions[0] in self._group.coordinates:
            label = str(self._group[dimensions[0]][index[0]])
            if label.replace(",", "").isdigit():
                return label
        return ",".join(str(i + 1) for i in index)

    def to_xarray(self) -> Any:
        """An xarray.Dataset, with the names of dimensions and their coordinates."""
        import xarray

        g = self._group
        return xarray.Dataset(
            {n: (g.dimensions(n), g[n]) for n in g.variables}, {n: (g.dimensions(n), g[n]) for n in g.coordinates}, {k: v for k, v in g.attributes.items() if not k.startswith("ppl_")}
        )


class Report(str):
    """A report as an HTML element, which notebooks show."""

    def _repr_html_(self) -> str:
        return str(self)


def _run(args: Sequence[str], stdin: Optional[bytes] = None) -> Result:
    """Runs a command, and raises what it ends with."""
    from ._model import _fail

    result = run(args, stdin)
    if result.code != 0:
        _fail(result, [])
    return result


class Fit:
    """The draws of a run, with findings, and what follows from them.

    A fit can be pickled, with its draws. Its folder is one of `ppl run`, for all commands of ppl.
    """

    def __init__(self, folder: Folder, document: Mapping[str, Any]) -> None:
        self._folder = folder
        self._document = document
        self._groups: dict[str, Draws] = {}
        self.findings: list[Finding] = [Finding.of(f) for f in document["findings"]]

    @property
    def folder(self) -> Path:
        """The folder of the run."""
        return self._folder.path

    @property
    def seed(self) -> int:
        """The seed that repeats the run."""
        import json

        return int(json.loads((self.folder / "run.json").read_text(encoding="utf-8"))["seed"])

    @property
    def divergences(self) -> int:
        """The number of divergent transitions after warm-up."""
        return int(self._document["divergences"])

    @property
    def document(self) -> Mapping[str, Any]:
        """The JSON of the run, with times, gradients and figures of chains: doc/json.md of ppl."""
        return self._document

    @property
    def draws(self) -> Draws:
        """The draws: `fit.draws["theta"]` has the dimensions chain, draw, and those of theta."""
        return self.group("posterior")

    @property
    def sample_stats(self) -> Draws:
        """Figures of the sampler at each draw: lp, diverging, energy, step_size and others."""
        return self.group("sample_stats")

    def group(self, name: str) -> Draws:
        """A group as ArviZ names them.

        Those beyond posterior, sample_stats, observed_data and constant_data are computed when
        they are asked for: log_likelihood, posterior_predictive, prior, prior_predictive.
        """
        if name not in self._groups:
            path = next(self.folder.glob("*.zarr"))
            store = self._folder
            if not (path / name).is_dir():
                store = Folder.temporary()
                path = store.path / "fit.zarr"
                asked = "prior" if name == "prior_predictive" else name
                _run(["convert", str(self.folder), "--to", "zarr", "--groups", asked, "--out", str(path), "-q"])
                if not (path / name).is_dir():
                    raise KeyError(f"the model has nothing that the group {name!r} follows from")
            self._groups[name] = Draws(store, path, name)
        return self._groups[name]

    def summary(
        self, vars: Union[None, str, Iterable[str]] = None, *, percentiles: Optional[Iterable[float]] = None, sort: Optional[str] = None
    ) -> Summary:
        """Mean, standard deviation, quantiles, R-hat and effective sample sizes of quantities.

        vars chooses, as in ["mu", "theta[1:5]"]; sort is "rhat" or "ess", the worst first, or "name".
        """
        if vars is None and percentiles is None and sort is None:
            return Summary(self._document["summary"])
        args = ["summary", str(self.folder), "--json"]
        if vars is not None:
            args += ["--vars", vars if isinstance(vars, str) else ",".join(vars)]
        if percentiles is not None:
            args += ["--percentiles", ",".join(map(str, percentiles))]
        if sort is not None:
            args += ["--sort", sort]
        return Summary(_run(args).json()["summary"])

    def loo(self, *, moment_match: bool = False, exact: bool = False, **options: Any) -> Loo:
        """How well the model predicts new data, by leave-one-out cross-validation.

        The model needs no log likelihood. moment_match and exact compute observations anew whose
        Pareto k is too large; other options are those of `ppl loo`, such as by="school".
        """
        from ._model import options_of

        given = {"moment_match": moment_match or None, "exact": exact or None, **options}
        return Loo.of(_run(["loo", str(self.folder), "--json", "-q", *options_of(given)]).json())

    def predict(self, data: _data.Data = None, *, seed: int = 1, count: Union[str, Iterable[str]] = ()) -> Draws:
        """Data drawn anew at each draw, as the model's statements say: y_rep of y ~ ….

        data are new ones, in which what is drawn may be left out.
        """
        where, stdin = _data.arguments(data, count)
        store = Folder.temporary()
        try:
            _run(["predict", str(self.folder), "--seed", str(seed), "--out", str(store.path / "csv"), "-q", *where], stdin)
            files = sorted(map(str, (store.path / "csv").glob("*.csv")))
            _run(["convert", *files, "--to", "zarr", "--groups", "none", "--out", str(store.path / "fit.zarr"), "-q"])
        except RunError as e:
            if "[E06" not in str(e):
                raise
            at = Message.of({"severity": "error", "summary": str(e)})
            raise DataError([at]) from None
        shutil.rmtree(store.path / "csv")
        return Draws(store, store.path / "fit.zarr", "posterior")

    def ppc(self, **options: Any) -> Table:
        """Statistics of the data, with those of data drawn from the model, a row for each.

        p is the share of draws whose statistic is at least the observed one. Options are those
        of `ppl ppc`, such as by="hospital".
        """
        from ._model import options_of

        return checks_table(_run(["ppc", str(self.folder), "--json", "-q", *options_of(options)]).json())

    def effects(
        self,
        of: Union[None, str, Iterable[str]] = None,
        *,
        by: Union[None, str, Iterable[str]] = None,
        at: Optional[Mapping[str, Any]] = None,
        data: _data.Data = None,
        count: Union[str, Iterable[str]] = (),
        **options: Any,
    ) -> Table:
        """How the expected outcome depends on variables of the data, averaged over rows.

        of are variables, by makes groups of rows, and at sets variables for all rows: a value, or a
        list of several. data are other rows than those of the fit. Other options are those of
        `ppl effects`: show="slopes", compare="ratio", pairs="pairwise", step=10, rank=True.
        """
        from ._model import options_of

        def listed(v: Union[None, str, Iterable[str]]) -> Optional[str]:
            return v if v is None or isinstance(v, str) else ",".join(v)

        where, stdin = _data.arguments(data, count)
        given = options_of({"of": listed(of), "by": listed(by), **options})
        for name, value in (at or {}).items():
            values = value if isinstance(value, (list, tuple)) else [value]
            given.append(f"--at={name}={','.join(map(str, values))}")
        return effects_table(_run(["effects", str(self.folder), "--json", "-q", *where, *given], stdin).json())

    def report(self, path: Optional[StrPath] = None, **options: Any) -> Report:
        """The report with plots: shown in notebooks, or written to an HTML file.

        Options are those of `ppl report`: vars, title, size, quick.
        """
        from ._model import options_of

        args = ["report", str(self.folder), "-q", *options_of(options)]
        if path is None:
            return Report(_run([*args, "--embed"]).stdout.decode())
        _run([*args, "--out", os.fspath(path)])
        return Report(f'<a href="{html.escape(os.fspath(path), quote=True)}">{html.escape(os.fspath(path))}</a>')

    def save(self, folder: StrPath) -> Fit:
        """Copies the run to a folder, which must not exist, and returns the fit there; see load."""
        to = Path(os.fspath(folder))
        shutil.copytree(self.folder, to)
        return Fit(Folder(to), self._document)

    def to_xarray(self, group: str = "posterior") -> Any:
        """A group as an xarray.Dataset; see group."""
        return self.group(group).to_xarray()

    def to_arviz(self, groups: Iterable[str] = ("posterior", "sample_stats", "observed_data", "constant_data")) -> Any:
        """The groups as arviz has them: InferenceData, of arviz 1 a DataTree. Groups without variables are left out."""
        import arviz  # type: ignore[import]

        sets = {}
        for name in groups:
            try:
                sets[name] = self.to_xarray(name)
            except KeyError:
                pass
        if hasattr(arviz, "InferenceData"):
            return arviz.InferenceData(**sets)
        import xarray

        return getattr(xarray, "DataTree").from_dict(sets)

    def to_pandas(self) -> Any:
        """A pandas.DataFrame with a row for each draw: chain, draw, and columns such as theta[1].

        Missing values of data have their place in the data: weight[4] if it is that of row 4.
        """
        import numpy
        import pandas  # type: ignore[import]

        columns: dict[str, Any] = {}
        draws = self.draws
        for name, values in draws.items():
            chains, length = values.shape[:2]
            if not columns:
                columns["chain"] = numpy.repeat(numpy.arange(1, chains + 1), length)
                columns["draw"] = numpy.tile(numpy.arange(1, length + 1), chains)
            for index in numpy.ndindex(*values.shape[2:]):
                label = f"{name}[{draws._place(name, index)}]" if index else name
                columns[label] = values[(slice(None), slice(None), *index)].reshape(-1)
        return pandas.DataFrame(columns)

    def __repr__(self) -> str:
        problems = sum(f.severity == "problem" for f in self.findings)
        return f"ppl.Fit({self._document['chains']} chains, {problems} problems among {len(self.findings)} findings)"

    def _repr_html_(self) -> str:
        rows = Summary(self._document["summary"][:50])
        left = len(self._document["summary"]) - len(rows)
        more = f"<p>… and {left} more: fit.summary()</p>" if left else ""
        return findings_html(self.findings) + rows._repr_html_() + more


def compare(*fits: Fit, **named: Fit) -> Table:
    """Compares models by their predictions of the same data (PSIS-LOO), the best first.

    `compare(pooled=a, grouped=b)` names them; without names they are numbered from 1.
    """
    models = {**{str(i + 1): f for i, f in enumerate(fits)}, **named}
    if len(models) < 2:
        raise UsageError("compare needs two fits or more", 2, [])
    if len({str(f.folder) for f in models.values()}) < len(models):
        raise UsageError("compare has the same fit twice", 2, [])
    result = _run(["compare", *(str(f.folder) for f in models.values()), "--json", "-q"]).json()
    return comparison_table(result, {str(f.folder): name for name, f in models.items()})


def load(folder: StrPath) -> Fit:
    """The fit in the folder of a run: of Fit.save, sample(out=…), or `ppl run --out`."""
    path = Path(os.fspath(folder))
    if not path.is_dir():
        raise FileNotFoundError(f"there is no folder {path}")
    document = _run(["summary", str(path), "--json"]).json()
    if any(path.glob("*.zarr")):
        return Fit(Folder(path), document)
    # CSV files: a copy of the folder with a store, which all methods read.
    fit = Fit(Folder(path), document)
    store = Folder.temporary()
    _run(["convert", str(path), "--to", "zarr", "--groups", "none", "--out", str(store.path / "fit.zarr"), "-q"])
    for name in ("posterior", "sample_stats", "observed_data", "constant_data"):
        if (store.path / "fit.zarr" / name).is_dir():
            fit._groups[name] = Draws(store, store.path / "fit.zarr", name)
    return fit
