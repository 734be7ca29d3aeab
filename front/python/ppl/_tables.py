"""What fits and models are asked for: findings, summaries, checks, effects, comparisons, modes."""

from __future__ import annotations

import html
import math
import os
from dataclasses import dataclass
from typing import Any, Iterator, Mapping, Sequence


def number(v: Any) -> float:
    """A number of the program's JSON, in which those that are not finite are strings."""
    return float(v) if isinstance(v, (int, float)) else float(str(v).replace("Infinity", "inf"))


def shown(v: Any) -> str:
    """A cell of a table: numbers in four digits."""
    if not isinstance(v, float):
        return str(v)
    if math.isfinite(v) and v == int(v) and abs(v) < 1e6:
        return str(int(v))
    return f"{v:.4g}"


def html_table(columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> str:
    """A table for notebooks; the first column has names."""
    head = "".join(f"<th>{html.escape(c)}</th>" for c in columns)
    body = "".join(
        "<tr>" + f"<th>{html.escape(str(r[0]))}</th>" + "".join(f"<td>{html.escape(shown(v))}</td>" for v in r[1:]) + "</tr>" for r in rows
    )
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


@dataclass(frozen=True)
class Finding:
    """A problem of a run, or a note about it."""

    code: str  # stable, such as rhat
    severity: str  # problem or note
    summary: str  # in one line, with figures
    advice: str  # what to do about it
    quantities: tuple[str, ...] = ()  # the worst first
    settings: tuple[str, ...] = ()  # what to set: name, or name=value

    @classmethod
    def of(cls, f: Mapping[str, Any]) -> Finding:
        """A finding from the program's JSON."""
        return cls(f["code"], f["severity"], f["summary"], f["advice"], tuple(f.get("quantities", ())), tuple(f.get("settings", ())))

    def __str__(self) -> str:
        return f"{self.severity}: {self.summary} {self.advice} [{self.code}]"


def findings_html(findings: Sequence[Finding]) -> str:
    """Findings as a list for notebooks."""
    if not findings:
        return "<p>No findings.</p>"
    rows = "".join(
        f"<li><b>{html.escape(f.severity)}</b> <code>{html.escape(f.code)}</code>: {html.escape(f.summary)} {html.escape(f.advice)}</li>"
        for f in findings
    )
    return f"<ul>{rows}</ul>"


def display_name(name: str) -> str:
    """theta[1,2] for theta.1.2, which the program's JSON has."""
    parts = name.split(".")
    end = len(parts)
    while end > 1 and parts[end - 1].isdigit():
        end -= 1
    indices = ",".join(parts[end:])
    return ".".join(parts[:end]) + (f"[{indices}]" if indices else "")


def plain(columns: Sequence[str], rows: Sequence[Sequence[Any]], names: int = 1) -> str:
    """A table as text; the first columns have names, the others numbers."""
    cells = [list(columns)] + [[shown(v) for v in r] for r in rows]
    widths = [max(len(r[i]) for r in cells) for i in range(len(columns))]
    return "\n".join("  ".join(v.ljust(w) if i < names else v.rjust(w) for i, (v, w) in enumerate(zip(r, widths))).rstrip() for r in cells)


class Table(Sequence[Mapping[str, Any]]):
    """Rows with the same columns, and the findings about them."""

    def __init__(self, rows: Sequence[Mapping[str, Any]], findings: Sequence[Finding] = (), notes: Sequence[str] = ()) -> None:
        self._rows = list(rows)
        self.findings = list(findings)
        self.notes = list(notes)

    @property
    def columns(self) -> list[str]:
        """The names of the columns."""
        return list(self._rows[0]) if self._rows else []

    def __len__(self) -> int:
        return len(self._rows)

    def __iter__(self) -> Iterator[Mapping[str, Any]]:
        return iter(self._rows)

    def __getitem__(self, i: Any) -> Any:
        return self._rows[i]

    def to_pandas(self) -> Any:
        """A pandas.DataFrame with a row for each."""
        import pandas  # type: ignore[import]

        return pandas.DataFrame(self._rows, columns=self.columns)

    def _cells(self) -> list[list[Any]]:
        return [[r[c] for c in self.columns] for r in self._rows]

    def __repr__(self) -> str:
        names = sum(isinstance(v, str) for v in self._rows[0].values()) if self._rows else 0
        return "\n".join([plain(self.columns, self._cells(), names), *self.notes, *map(str, self.findings)])

    def _repr_html_(self) -> str:
        notes = "".join(f"<p>{html.escape(n)}</p>" for n in self.notes)
        return html_table(self.columns, self._cells()) + notes + (findings_html(self.findings) if self.findings else "")


def findings_of(document: Mapping[str, Any]) -> list[Finding]:
    """The findings of the program's JSON."""
    return [Finding.of(f) for f in document.get("findings", ())]


def checks_table(document: Mapping[str, Any]) -> Table:
    """The result of `ppl ppc --json`: a row for each statistic of a variable, and of a group of it."""
    rows: list[dict[str, Any]] = []
    grouped = any(v.get("groups") for v in document["variables"])

    def add(variable: str, group: str, check: Mapping[str, Any]) -> None:
        named = {"variable": variable, **({"group": group} if grouped else {}), "statistic": check["statistic"]}
        rows.append({**named, **{k: number(v) for k, v in check.items() if k != "statistic" and v is not None}})

    for variable in document["variables"]:
        for check in variable["checks"]:
            add(variable["name"], "", check)
        groups = variable.get("groups") or []
        for group in groups if isinstance(groups, list) else [groups]:
            for cell in group["cells"]:
                parts = [f"{b['name']}={b['value']}" for b in cell["by"]]
                if cell["low"] is not None:
                    parts.append(f"{shown(number(cell['low']))} to {shown(number(cell['high']))}")
                add(variable["name"], " ".join(parts), cell["check"])
    return Table(rows, findings_of(document))


def effects_table(document: Mapping[str, Any]) -> Table:
    """The result of `ppl effects --json`: a row for each effect, or for each level with its ranks."""
    rows: list[dict[str, Any]] = []
    quantiles = [f"q{shown(float(p))}" for p in document["percentiles"]]
    for kind in ("effects", "ranks"):
        for e in document[kind]:
            row = {"term": e["term"]}
            for key in ("from", "to", "level"):
                if key in e:
                    row[key] = e[key]
            for pair in [*e["by"], *e["at"]]:
                row[pair["name"]] = str(pair["value"])
            if e["category"]:
                row["category"] = e["category"]
            row["mean"] = number(e["mean"])
            if kind == "ranks":
                row.update({f"rank {i + 1}": number(p) for i, p in enumerate(e["probabilities"])})
            else:
                row["sd"] = number(e["sd"])
                row.update(zip(quantiles, map(number, e["quantiles"])))
                if e.get("positive") is not None:
                    row["positive"] = number(e["positive"])
            rows.append(row)
    return Table(rows, findings_of(document), [str(n) for n in document.get("notes", ())])


def comparison_table(document: Mapping[str, Any], folders: Mapping[str, str]) -> Table:
    """The result of `ppl compare --json`, the best model first; folders has the names by folder."""
    rows = []
    # The program names a model by the last part of its path, or by the path if others end the same.
    names = {m["model"]: next(n for f, n in folders.items() if m["model"] in (f, os.path.basename(f))) for m in document["models"]}
    for m in document["models"]:
        rows.append(
            {
                "model": names[m["model"]],
                "elpd": number(m["elpd"]["estimate"]), "elpd_se": number(m["elpd"]["se"]),
                "elpd_diff": number(m["elpd_diff"]["estimate"]), "diff_se": number(m["elpd_diff"]["se"]),
                "p_worse": number(m["p_worse"]), "weight": number(m["stacking_weight"]), "verdict": m["verdict"],
            }
        )  # fmt: skip
    findings = []
    for f in findings_of(document):
        summary = f.summary
        for shown_as, name in names.items():
            summary = summary.replace(shown_as, name)
        findings.append(Finding(f.code, f.severity, summary, f.advice, f.quantities, f.settings))
    return Table(rows, findings)


class Optimum(Mapping[str, Any]):
    """The mode that `Model.optimize` has found: values by the names of variables.

    They are numbers, or arrays of numpy (nested lists without it). It can start a run:
    `model.sample(data, init=model.optimize(data))`.
    """

    def __init__(self, document: Mapping[str, Any]) -> None:
        self.lp = number(document["lp"])  # the log density there
        self.converged = bool(document["converged"])
        self.reason = str(document["reason"])
        self.document = document
        elements: dict[str, list[tuple[tuple[int, ...], float]]] = {}
        for e in document["estimates"]:
            parts = display_name(e["name"]).rstrip("]").split("[")
            index = tuple(int(i) - 1 for i in parts[1].split(",")) if len(parts) > 1 else ()
            elements.setdefault(parts[0], []).append((index, number(e["value"])))
        self._values = {name: array_of(found) for name, found in elements.items()}

    def __getitem__(self, name: str) -> Any:
        return self._values[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def __repr__(self) -> str:
        return f"ppl.Optimum({', '.join(self)}: lp {self.lp:.6g}, {self.reason})"


def array_of(elements: Sequence[tuple[tuple[int, ...], float]]) -> Any:
    """The array with these elements, the last of which has the largest indices; a number without indices."""
    last = elements[-1][0]
    if not last:
        return elements[0][1]
    try:
        import numpy
    except ImportError:
        values = dict(elements)

        def nested(at: tuple[int, ...]) -> Any:
            return values[at] if len(at) == len(last) else [nested((*at, i)) for i in range(last[len(at)] + 1)]

        return nested(())
    array = numpy.empty([n + 1 for n in last])
    for index, value in elements:
        array[index] = value
    return array


class Summary(Sequence[Mapping[str, Any]]):
    """A table with a row for each quantity: mean, sd, quantiles, R-hat, effective sample size.

    Rows are found by position or by the quantity's name, as in `summary["theta[1]"]["mean"]`.
    """

    def __init__(self, rows: Sequence[Mapping[str, Any]]) -> None:
        self._rows: list[dict[str, Any]] = []
        for r in rows:
            row: dict[str, Any] = {"name": display_name(r["name"])}
            if "label" in r:
                row["label"] = r["label"]
            percentiles = r.get("percentiles")
            for key, value in r.items():
                if key in ("name", "label", "percentiles") or percentiles is not None and key in ("q5", "q50", "q95"):
                    continue
                row[key] = number(value)
            for p, value in (percentiles or {}).items():
                row["q" + p] = number(value)
            self._rows.append(row)
        self._index = {r["name"]: i for i, r in enumerate(self._rows)}

    @property
    def columns(self) -> list[str]:
        """The names of the figures, in the order of the table that is shown."""
        keys = list(self._rows[0]) if self._rows else ["name"]
        quantiles = sorted((k for k in keys if k[0] == "q" and k[1:].replace(".", "").isdigit()), key=lambda k: float(k[1:]))
        first = ["name", "mean", "sd", *quantiles, "mcse_mean", "ess_bulk", "ess_tail", "rhat"]
        return [k for k in first if k in keys]

    def __len__(self) -> int:
        return len(self._rows)

    def __iter__(self) -> Iterator[Mapping[str, Any]]:
        return iter(self._rows)

    def __getitem__(self, key: Any) -> Any:
        if isinstance(key, str):
            if key not in self._index:
                raise KeyError(f"the summary has no quantity {key!r}; it has {', '.join(list(self._index)[:10])}")
            return self._rows[self._index[key]]
        return self._rows[key]

    def to_pandas(self) -> Any:
        """A pandas.DataFrame with all figures, by the names of quantities."""
        import pandas

        return pandas.DataFrame(self._rows).set_index("name")

    def __repr__(self) -> str:
        return plain(self.columns, [[r[c] for c in self.columns] for r in self._rows])

    def _repr_html_(self) -> str:
        columns = self.columns
        return html_table(columns, [[r[c] for c in columns] for r in self._rows])


@dataclass(frozen=True)
class Estimate:
    """A sum over observations, with its standard error."""

    estimate: float
    se: float

    def __str__(self) -> str:
        return f"{self.estimate:.1f} ± {self.se:.1f}"


@dataclass(frozen=True)
class Loo:
    """How well a model predicts new data: PSIS-LOO and WAIC."""

    estimates: Mapping[str, Estimate]  # elpd_loo, p_loo, looic, elpd_waic, p_waic, waic
    mcse: float  # Monte Carlo standard error of elpd_loo
    pareto_k_limit: float  # above it, an observation's figures are unreliable
    pointwise: Mapping[str, Sequence[Any]]  # figures of each observation, by column
    findings: Sequence[Finding]

    @classmethod
    def of(cls, o: Mapping[str, Any]) -> Loo:
        """The result of `ppl loo --json`."""
        pointwise: dict[str, Sequence[Any]] = {}
        for column, values in o["pointwise"].items():
            pointwise[column] = list(values) if column == "name" else [number(v) for v in values]
        estimates = {k: Estimate(number(v["estimate"]), number(v["se"])) for k, v in o["estimates"].items()}
        return cls(estimates, number(o["mcse"]), number(o["pareto_k_limit"]), pointwise, [Finding.of(f) for f in o["findings"]])

    @property
    def elpd(self) -> float:
        """The expected log predictive density."""
        return self.estimates["elpd_loo"].estimate

    @property
    def se(self) -> float:
        """Its standard error over observations."""
        return self.estimates["elpd_loo"].se

    @property
    def pareto_k(self) -> Sequence[float]:
        """Pareto k of each observation."""
        return self.pointwise["pareto_k"]

    def __str__(self) -> str:
        lines = [f"{name}: {e}" for name, e in self.estimates.items()]
        return "\n".join(lines + [str(f) for f in self.findings])

    def _repr_html_(self) -> str:
        rows = [(name, e.estimate, e.se) for name, e in self.estimates.items()]
        return html_table(["", "estimate", "se"], rows) + findings_html(self.findings)
