"""What a fit is asked for: findings, summaries, estimates of predictive accuracy."""

from __future__ import annotations

import html
import math
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
        import pandas  # type: ignore[import]

        return pandas.DataFrame(self._rows).set_index("name")

    def __repr__(self) -> str:
        columns = self.columns
        cells = [columns] + [[shown(r[c]) for c in columns] for r in self._rows]
        widths = [max(len(r[i]) for r in cells) for i in range(len(columns))]
        return "\n".join("  ".join(v.ljust(w) if i == 0 else v.rjust(w) for i, (v, w) in enumerate(zip(r, widths))).rstrip() for r in cells)

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
