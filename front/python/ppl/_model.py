"""Models: checked texts, which are sampled, or bound to data in this process."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import tempfile
import warnings
from dataclasses import replace
from pathlib import Path
from typing import Any, Iterable, Iterator, Mapping, NoReturn, Optional, Sequence, Union

from . import _data, _progress
from ._engine import Result, run
from ._errors import DataError, Message, ModelError, Place, RunError, UsageError
from ._fit import Fit, Folder
from ._posterior import Posterior
from ._tables import Optimum

StrPath = Union[str, "os.PathLike[str]"]


def options_of(options: Mapping[str, Any]) -> list[str]:
    """Options of the program: max_depth=8 is --max-depth 8; None leaves one out."""
    args = []
    for name, value in options.items():
        flag = "--" + name.replace("_", "-")
        if value is None:
            continue
        if isinstance(value, bool):
            args.append(f"{flag}={str(value).lower()}")
        elif isinstance(value, (list, tuple)):
            args += [f"{flag}={v}" for v in value]
        else:
            args.append(f"{flag}={value}")
    return args


class Model:
    """A model in Stan's language, from a file or a text.

    It is checked when it is made: a wrong one raises ModelError with the places of its errors;
    what is allowed but likely to be a mistake is a warning, and in `messages`.

    Models can be pickled, and be used by several threads at a time.
    """

    def __init__(
        self,
        path: Optional[StrPath] = None,
        *,
        text: Optional[str] = None,
        name: str = "model",
        include_paths: Sequence[StrPath] = (),
        legacy: bool = False,
    ) -> None:
        """Reads and checks a model.

        path is its file, text its text; name is what a text is called in messages. include_paths
        are folders for files of #include, after that of the model. legacy allows the syntax of
        older versions of Stan.
        """
        if (path is None) == (text is None):
            raise TypeError("give the path of a model, or text=, its text")
        self.path = None if path is None else os.fspath(path)
        self.name = name if self.path is None else Path(self.path).stem
        self._include_paths = [os.fspath(p) for p in include_paths]
        self._legacy = legacy
        if self.path is not None:
            try:
                text = Path(self.path).read_text(encoding="utf-8")
            except OSError as e:
                raise FileNotFoundError(e.errno, f"cannot read the model: {e.strerror}", self.path) from None
        self.text: str = text or ""
        self.messages: tuple[Message, ...] = ()
        with self._file() as file:
            found = self._messages(run(["check", "--json", *self._arguments(), file]))
        if any(m.severity == "error" for m in found):
            raise ModelError(found)
        self.messages = tuple(found)
        for m in found:
            warnings.warn(str(m), stacklevel=2)

    def __repr__(self) -> str:
        return f"ppl.Model({self.path!r})" if self.path is not None else f"ppl.Model(text=…, name={self.name!r})"

    def _arguments(self) -> list[str]:
        return [a for p in self._include_paths for a in ("--include-path", p)] + (["--legacy"] if self._legacy else [])

    @contextlib.contextmanager
    def _file(self) -> Iterator[str]:
        """The file of the model; for a text, one that is removed again."""
        if self.path is not None:
            yield self.path
            return
        folder = tempfile.mkdtemp(prefix="ppl-")
        try:
            file = os.path.join(folder, self.name + ".stan")
            Path(file).write_text(self.text, encoding="utf-8")
            yield file
        finally:
            shutil.rmtree(folder, ignore_errors=True)

    def _messages(self, checked: Result) -> list[Message]:
        document = checked.json() if checked.code in (0, 1) else None
        if document is None:
            _fail(checked, [])
        # The names of a temporary file and of standard input mean nothing to the reader.
        folder = tempfile.gettempdir()

        def renamed(p: Place) -> Place:
            if p.file == "stdin":
                return replace(p, file="data")
            return replace(p, file=self.name) if self.path is None and p.file.startswith(folder) else p

        return [
            replace(m, place=renamed(m.place), end=renamed(m.end), notes=tuple(map(renamed, m.notes)), help=m.help.replace("the data in stdin", "the data"))
            for m in map(Message.of, document["messages"])
        ]

    def sample(
        self,
        data: _data.Data = None,
        *,
        seed: Optional[int] = None,
        chains: Optional[int] = None,
        warmup: Optional[int] = None,
        draws: Optional[int] = None,
        thin: Optional[int] = None,
        sampler: Optional[str] = None,
        init: Union[None, float, Mapping[str, Any], StrPath, Fit] = None,
        target_ess: Optional[float] = None,
        out: Optional[StrPath] = None,
        parallel: Optional[int] = None,
        progress: _progress.Shown = None,
        count: Union[str, Iterable[str]] = (),
        **options: Any,
    ) -> Fit:
        """Draws from the posterior given data.

        data are a dict, a data frame of pandas or polars, an xarray.Dataset, or the path of a
        file of JSON, CSV or R's dump. Of a table, count names what it counts: "N" the rows,
        "J=school" the levels of the column school.

        The same seed gives the same draws, whatever the number of processors. chains, warmup,
        draws (per chain), thin, sampler, init and target_ess are those of `ppl run`, as are other
        options: delta=0.95 is --delta 0.95. init may also be the values of parameters, or a fit,
        whose ends are the starts.

        out is a folder that keeps the run; without, one is removed with the fit. progress=False
        shows nothing, and a function is called with each Progress.

        Raises DataError, ModelError, UsageError, or RunError if the run fails. Ctrl-C ends the
        run.
        """
        where, stdin = _data.arguments(data, count)
        if isinstance(init, Mapping):
            init = _data.as_json(init, ())
        elif isinstance(init, Fit):
            init = str(init.folder)
        given = options_of(
            {
                "seed": seed, "chains": chains, "warmup": warmup, "draws": draws, "thin": thin, "sampler": sampler,
                "init": init, "target_ess": target_ess, "parallel": parallel, **{"groups": "none", **options},
            }
        )  # fmt: skip
        folder = Folder.temporary() if out is None else Folder(Path(os.fspath(out)))
        try:
            with self._file() as file:
                result = run(
                    ["run", *self._arguments(), *where, "--out", str(folder.path), "--format", "zarr", "--json", "--progress", "json", *given, file],
                    stdin, _progress.reader(progress, 4 if chains is None else chains),
                )  # fmt: skip
                if result.code == 1:
                    self._explain(file, where, stdin)
        except BaseException:
            folder.remove()
            raise
        document = result.json()
        if result.code != 0:
            folder.remove()
            _fail(result, document["findings"] if document else [])
        return Fit(folder, document)

    def optimize(
        self, data: _data.Data = None, *, seed: Optional[int] = None, count: Union[str, Iterable[str]] = (), **options: Any
    ) -> Optimum:
        """The mode of the posterior, without the Jacobians of constrained parameters.

        It is the maximum likelihood estimate where priors are flat. Options are those of
        `ppl optimize`, such as jacobian=True.
        """
        where, stdin = _data.arguments(data, count)
        with self._file() as file:
            result = run(["optimize", *self._arguments(), *where, "--json", "-q", *options_of({"seed": seed, **options}), file], stdin)
            if result.code == 1:
                self._explain(file, where, stdin)
        document = result.json()
        if result.code != 0 or document is None:
            _fail(result, [])
        return Optimum(document)

    def bind(self, data: _data.Data = None, *, seed: int = 1, count: Union[str, Iterable[str]] = ()) -> Posterior:
        """The posterior given data, whose log density and gradient this process evaluates.

        It needs libppl: see LibraryError. seed is that of random numbers in transformed data.
        """
        return Posterior(self, data, seed, count)

    def _explain(self, file: str, where: Sequence[str], stdin: Optional[bytes]) -> None:
        """Raises what is wrong with the model or the data, if that is why a command has failed."""
        if "--data" not in where:  # which would leave out what depends on them
            where, stdin = [*where, "--data", "-"], b"{}"
        checked = run(["check", "--json", *self._arguments(), *where, file], stdin)
        if checked.code != 1 or not checked.stdout.strip():
            return
        errors = [m for m in self._messages(checked) if m.severity == "error"]
        if errors:
            raise (DataError if all(m.code.startswith("E06") or not m.code for m in errors) else ModelError)(errors)


def _fail(result: Result, findings: Sequence[Mapping[str, Any]]) -> NoReturn:
    """Raises the error that a command has ended with."""
    from ._tables import Finding

    text = re.sub(r"\n?Run 'ppl .*", "", result.stderr.strip())  # which is about the command line
    text = re.sub(r"unknown flag: --(\S+)", lambda m: "there is no option " + m.group(1).replace("-", "_"), text)
    if text.startswith("error: "):
        text = text[len("error: ") :]
    kind = UsageError if result.code == 2 else RunError
    raise kind(text or f"ppl has ended with exit code {result.code}", result.code, [Finding.of(f) for f in findings])
