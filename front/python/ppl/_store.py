"""Arrays of Zarr stores of format 3 as ppl writes them, read by the standard library.

Without numpy, arrays are nested lists; of logical values bool, of complex ones complex.
"""

from __future__ import annotations

import itertools
import json
import struct
import zlib
from pathlib import Path
from typing import Any, Iterator, Mapping

try:
    import numpy
except ImportError:
    numpy = None  # type: ignore[assignment]

# The types: bytes of an item, and its code in memoryview; complex numbers are two of them.
_TYPES = {"float64": (8, "d"), "int64": (8, "q"), "bool": (1, "?"), "complex128": (16, "d"), "string": (0, "")}


class Group(Mapping[str, Any]):
    """The arrays of a group of a store, read when they are asked for."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.attributes: dict[str, Any] = json.loads((folder / "zarr.json").read_text()).get("attributes", {})
        order = json.loads(self.attributes.get("ppl_order", "[]"))
        names = sorted(p.parent.name for p in folder.glob("*/zarr.json"))
        self._about = {n: json.loads((folder / n / "zarr.json").read_text()) for n in sorted(names, key=lambda n: (order.index(n) if n in order else len(order), n))}
        # Coordinates are named like their only dimension.
        self.coordinates = [n for n, a in self._about.items() if a.get("dimension_names") == [n]]
        self.variables = [n for n in self._about if n not in self.coordinates]

    def __iter__(self) -> Iterator[str]:
        return iter(self.variables)

    def __len__(self) -> int:
        return len(self.variables)

    def dimensions(self, name: str) -> list[str]:
        """The names of the dimensions of an array."""
        return list(self._about[name].get("dimension_names") or [])

    def __getitem__(self, name: str) -> Any:
        if name not in self._about:
            raise KeyError(f"there are no draws of {name!r}; there are those of {', '.join(self.variables)}")
        about = self._about[name]
        size, code = _TYPES[about["data_type"]]
        if about["data_type"] == "string":
            return self._texts(name)
        shape = list(about["shape"])
        content = _assemble(self.folder / name, about, size)
        if numpy is not None:
            return numpy.frombuffer(content, dtype=about["data_type"]).reshape(shape)
        view = memoryview(bytes(content)).cast("B").cast(code)
        items: list[Any] = view.tolist()
        if about["data_type"] == "complex128":
            items = [complex(a, b) for a, b in zip(items[::2], items[1::2])]
        return _nested(items, shape) if shape else items[0]

    def _texts(self, name: str) -> list[str]:
        """A coordinate with texts: their number, then of each the length and the bytes."""
        content = (self.folder / name / "c.0").read_bytes()
        texts, at = [], 4
        for _ in range(int.from_bytes(content[:4], "little")):
            n = int.from_bytes(content[at : at + 4], "little")
            texts.append(content[at + 4 : at + 4 + n].decode())
            at += 4 + n
        return texts


def _nested(items: list[Any], shape: list[int]) -> list[Any]:
    if len(shape) < 2:
        return items
    n = len(items) // shape[0] if shape[0] else 0
    return [_nested(items[i * n : (i + 1) * n], shape[1:]) for i in range(shape[0])]


def _product(sizes: Any) -> int:
    n = 1
    for s in sizes:
        n *= s
    return n


def _assemble(folder: Path, about: Mapping[str, Any], size: int) -> bytearray:
    """The bytes of an array, in row-major order, from its chunks."""
    shape = about["shape"]
    chunk = about["chunk_grid"]["configuration"]["chunk_shape"]
    separator = about["chunk_key_encoding"]["configuration"]["separator"]
    gzip = any(c["name"] == "gzip" for c in about["codecs"])
    out = bytearray(_product(shape) * size)
    for index in itertools.product(*(range(-(-s // c)) for s, c in zip(shape, chunk))):
        try:
            content = folder.joinpath(separator.join(["c", *map(str, index)])).read_bytes()
        except FileNotFoundError:  # it has nothing but the value that fills
            content = _filling(about, size) * _product(chunk)
            _place(out, content, shape, chunk, index, size)
            continue
        if gzip:
            content = zlib.decompress(content, 31)
        _place(out, content, shape, chunk, index, size)
    return out


def _filling(about: Mapping[str, Any], size: int) -> bytes:
    """The item in place of those that were not written."""
    value = about["fill_value"]
    if isinstance(value, list):  # of complex numbers
        return b"".join(struct.pack("<d", float(v)) for v in value)
    if about["data_type"] == "float64":
        return struct.pack("<d", float(value))
    return int(value).to_bytes(size, "little", signed=about["data_type"] != "bool")


def _place(out: bytearray, content: bytes, shape: list[int], chunk: list[int], index: tuple[int, ...], size: int) -> None:
    """Copies a chunk, whose part beyond the array is left out, in runs of whole trailing dimensions."""
    if list(shape) == list(chunk):
        out[:] = content
        return
    inner = len(shape)
    while inner > 1 and shape[inner - 1] == chunk[inner - 1]:
        inner -= 1
    tail = size * _product(shape[inner:])
    begin = [i * c for i, c in zip(index, chunk)]
    last = min(chunk[inner - 1], shape[inner - 1] - begin[inner - 1]) * tail
    counts = [min(c, s - b) for c, s, b in zip(chunk, shape, begin)][: inner - 1]
    for at in itertools.product(*(range(n) for n in counts)):
        source = target = 0
        for d, i in enumerate(at):
            source = source * chunk[d] + i
            target = target * shape[d] + begin[d] + i
        source = source * chunk[inner - 1] * tail
        target = (target * shape[inner - 1] + begin[inner - 1]) * tail
        out[target : target + last] = content[source : source + last]
