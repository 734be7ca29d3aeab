"""Data as the program reads them: JSON as Stan has it, CSV for data frames, or a file."""

from __future__ import annotations

import io
import json
import os
from typing import Any, Iterable, Mapping, Optional, Union

from ._errors import DataError, Message, Place

Data = Union[Mapping[str, Any], str, "os.PathLike[str]", Any, None]


def _wrong(summary: str, help: str) -> DataError:
    at = Place("data")
    return DataError([Message("error", "", summary, "", help, at, at)])


def _is_frame(data: Any) -> bool:
    """Reports whether data are a frame of pandas or polars."""
    return hasattr(data, "columns") and (hasattr(data, "to_csv") or hasattr(data, "write_csv"))


def _is_dataset(data: Any) -> bool:
    """Reports whether data are a Dataset of xarray."""
    return hasattr(data, "data_vars") and hasattr(data, "sizes")


def arguments(data: Data, count: Iterable[str]) -> tuple[list[str], Optional[bytes]]:
    """The program's arguments that give data, and its standard input."""
    args = [a for c in ([count] if isinstance(count, str) else count) for a in ("--count", c)]
    if data is None:
        return args, None
    if isinstance(data, (str, os.PathLike)):
        return [*args, "--data", os.fspath(data)], None
    text = _csv(data) if _is_frame(data) else _json(data)
    return [*args, "--data", "-"], text.encode()


def as_json(data: Data, count: Iterable[str]) -> str:
    """Data as JSON, for libppl, which reads nothing else; empty if there are none."""
    if data is None:
        return ""
    counts = [count] if isinstance(count, str) else list(count)
    if isinstance(data, (str, os.PathLike)):
        if not os.fspath(data).endswith(".json") or counts:
            raise _wrong("bind reads files of JSON only", "read the file, as by pandas.read_csv, and give the columns")
        with open(data, encoding="utf-8") as f:
            return f.read()
    rows: Any = data
    if _is_frame(data):
        columns = {str(c): rows[c] for c in rows.columns}
        if any("=" in c for c in counts):
            raise _wrong("bind counts rows only, not the levels of a column", "give the levels as numbers from 1, and their number, in a dict")
        data = {**columns, **{c: len(rows) for c in counts}}
    return _json(data)


def _csv(frame: Any) -> str:
    """A frame as CSV. Logical values are 0 and 1."""
    if hasattr(frame, "write_csv"):  # polars
        truths = [name for name, kind in zip(frame.columns, frame.dtypes) if str(kind) == "Boolean"]
        if truths:
            import polars  # type: ignore[import]

            frame = frame.with_columns([polars.col(name).cast(polars.Int8) for name in truths])
        return str(frame.write_csv())
    truths = [name for name, kind in zip(frame.columns, frame.dtypes) if str(kind) in ("bool", "boolean")]
    if truths:
        frame = frame.astype({name: "Int8" for name in truths})
    out = io.StringIO()
    frame.to_csv(out, index=False)
    return out.getvalue()


def _json(data: Any) -> str:
    """A mapping as JSON. A Dataset of xarray also gives the sizes of its dimensions."""
    if _is_dataset(data):
        data = {**{str(d): n for d, n in data.sizes.items() if d not in data.data_vars}, **{str(v): data[v] for v in data.data_vars}}
    if not isinstance(data, Mapping):
        raise _wrong(f"data are of type {type(data).__name__}", "give a dict, a data frame, an xarray.Dataset, or the path of a file")
    parts = []
    for name, value in data.items():
        try:
            parts.append(f"{json.dumps(str(name))}:{json.dumps(_plain(value))}")
        except _NoNumber as e:
            raise _wrong(f"{name} is or contains a value of type {e.type}", "give numbers, or arrays or lists of them") from None
    return "{" + ",".join(parts) + "}"


class _NoNumber(TypeError):
    def __init__(self, value: Any) -> None:
        self.type = type(value).__name__


def _plain(value: Any, paired: bool = False) -> Any:
    """What json can write, of arrays, series, complex numbers and scalars of numpy.

    Logical values are 0 and 1. paired writes real numbers as complex ones, since a list that has
    one of these is of these.
    """
    if isinstance(value, (bool, int, float)):
        n = int(value) if isinstance(value, bool) else value
        return [n, 0] if paired else n
    if isinstance(value, complex):
        return [value.real, value.imag]
    if value is None or isinstance(value, bytes):
        raise _NoNumber(value)
    if isinstance(value, str):
        return value
    if isinstance(value, Mapping):
        return {str(k): _plain(v) for k, v in value.items()}
    if hasattr(value, "values") and hasattr(value, "dims"):  # a DataArray of xarray
        return _plain(value.values, paired)
    if getattr(getattr(value, "dtype", None), "kind", None) in ("M", "m"):  # times
        raise _NoNumber(value)
    for method in ("to_list", "tolist"):  # series of polars, arrays, series and scalars
        if hasattr(value, method):
            return _plain(getattr(value, method)(), paired)
    if isinstance(value, Iterable):
        items = value if isinstance(value, (list, tuple)) else list(value)
        kinds = set(map(type, items))
        if kinds <= {int, float} and not paired:
            return items
        paired = paired or _has_complex(items)
        return [_plain(v, paired) for v in items]
    raise _NoNumber(value)


def _has_complex(items: Iterable[Any]) -> bool:
    return any(isinstance(v, complex) or isinstance(v, (list, tuple)) and _has_complex(v) for v in items)
