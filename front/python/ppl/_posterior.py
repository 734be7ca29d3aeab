"""Log densities, gradients and transforms in this process, by libppl."""

from __future__ import annotations

import ctypes
import json
import os
import threading
from typing import TYPE_CHECKING, Any, Iterable, Mapping, Optional, Sequence, Union

from . import _data
from ._carried import library
from ._errors import LibraryError, RunError

if TYPE_CHECKING:
    from ._model import Model

try:
    import numpy
except ImportError:
    numpy = None  # type: ignore[assignment]

_loading = threading.Lock()
_loaded: dict[str, ctypes.CDLL] = {}  # by path: a process loads a library once

_MESSAGE = ctypes.POINTER(ctypes.c_void_p)
_POINTER, _BOOL, _INT = ctypes.c_void_p, ctypes.c_bool, ctypes.c_int

# The functions of BridgeStan's interface that are called: results and parameters.
_FUNCTIONS: dict[str, tuple[Any, list[Any]]] = {
    "bs_model_construct": (_POINTER, [ctypes.c_char_p, ctypes.c_uint, _MESSAGE]),
    "bs_model_destruct": (None, [_POINTER]),
    "bs_free_error_msg": (None, [_POINTER]),
    "bs_param_names": (ctypes.c_char_p, [_POINTER, _BOOL, _BOOL]),
    "bs_param_unc_names": (ctypes.c_char_p, [_POINTER]),
    "bs_param_num": (_INT, [_POINTER, _BOOL, _BOOL]),
    "bs_param_unc_num": (_INT, [_POINTER]),
    "bs_log_density": (_INT, [_POINTER, _BOOL, _BOOL, _POINTER, _POINTER, _MESSAGE]),
    "bs_log_density_gradient": (_INT, [_POINTER, _BOOL, _BOOL, _POINTER, _POINTER, _POINTER, _MESSAGE]),
    "bs_log_density_hessian": (_INT, [_POINTER, _BOOL, _BOOL, _POINTER, _POINTER, _POINTER, _POINTER, _MESSAGE]),
    "bs_param_constrain": (_INT, [_POINTER, _BOOL, _BOOL, _POINTER, _POINTER, _POINTER, _MESSAGE]),
    "bs_param_unconstrain_json": (_INT, [_POINTER, ctypes.c_char_p, _POINTER, _MESSAGE]),
    "bs_rng_construct": (_POINTER, [ctypes.c_uint, _MESSAGE]),
    "bs_rng_destruct": (None, [_POINTER]),
}


def _library() -> ctypes.CDLL:
    path = library()
    with _loading:
        if path not in _loaded:
            try:
                loaded = ctypes.CDLL(path)
                for name, (result, parameters) in _FUNCTIONS.items():
                    function = getattr(loaded, name)
                    function.restype, function.argtypes = result, parameters
            except (OSError, AttributeError) as e:
                raise LibraryError(f"cannot load libppl: {e}") from None
            _loaded[path] = loaded
        return _loaded[path]


class _Values:
    """Numbers that C reads or writes: an array of numpy, or of ctypes without it."""

    def __init__(self, n: int, given: Any = None) -> None:
        if numpy is not None:
            self.array: Any = numpy.empty(n) if given is None else numpy.ascontiguousarray(given, dtype=float)
            if self.array.shape != (n,):
                raise ValueError(f"expected {n} unconstrained values, got an array of shape {self.array.shape}")
            self.pointer: Any = self.array.ctypes.data
        else:
            if given is not None and len(given) != n:
                raise ValueError(f"expected {n} unconstrained values, got {len(given)}")
            self.array = (ctypes.c_double * n)(*([] if given is None else map(float, given)))
            self.pointer = ctypes.addressof(self.array)

    def result(self) -> Any:
        return self.array if numpy is not None else list(self.array)


class Posterior:
    """The posterior of a model given data, on the unconstrained scale; made by Model.bind.

    Calls may come from several threads, and run at the same time. A posterior can be pickled:
    it is bound anew by the process that gets it. It cannot be used after a fork.
    """

    def __init__(self, model: Model, data: _data.Data, seed: int, count: Union[str, Iterable[str]] = ()) -> None:
        self._text = _data.as_json(data, count)
        self._model, self._seed = model, seed
        self._bind()

    def _bind(self) -> None:
        model, self._lib = self._model, _library()
        # A file that ends in .stan is named, so that what it includes is found.
        named = model.path is not None and model.path.endswith(".stan")
        rest = self._text.strip()[1:].strip() if self._text.strip() else "}"
        text = '{"__ppl":' + json.dumps(model.path if named else model.text) + ("" if rest == "}" else ",") + rest
        message = ctypes.c_void_p()
        self._pid = os.getpid()
        self._pointer: Optional[int] = self._lib.bs_model_construct(text.encode(), self._seed, ctypes.byref(message))
        if not self._pointer:
            said = self._said(message)
            with model._file() as file:
                stdin = self._text.encode() if self._text else None
                model._explain(file, ["--data", "-"] if stdin is not None else [], stdin)
            raise RunError(said, 1)
        self._dim = int(self._lib.bs_param_unc_num(self._pointer))

    def __getstate__(self) -> dict[str, Any]:
        return {"_text": self._text, "_model": self._model, "_seed": self._seed}

    def __setstate__(self, state: Mapping[str, Any]) -> None:
        self.__dict__.update(state)
        self._bind()

    def __del__(self) -> None:
        pointer = getattr(self, "_pointer", None)
        if pointer and os is not None and os.getpid() == self._pid:
            self._lib.bs_model_destruct(pointer)

    def _said(self, message: ctypes.c_void_p) -> str:
        if not message.value:
            return "libppl reports an error without a message"
        text = ctypes.string_at(message.value).decode("utf-8", "replace")
        self._lib.bs_free_error_msg(message.value)
        return text

    def _call(self, function: str, *args: Any) -> None:
        if os.getpid() != self._pid:
            raise LibraryError("this process was forked after the posterior was bound: bind it here, or start processes by spawn")
        message = ctypes.c_void_p()
        if getattr(self._lib, function)(self._pointer, *args, ctypes.byref(message)) != 0:
            raise RunError(self._said(message), 1)

    @property
    def dim(self) -> int:
        """The number of unconstrained parameters."""
        return self._dim

    @property
    def unconstrained_names(self) -> list[str]:
        """Their names, such as theta.1."""
        return self._names(self._lib.bs_param_unc_names(self._pointer))

    def names(self, *, transformed: bool = False, generated: bool = False) -> list[str]:
        """The names of what constrain returns."""
        return self._names(self._lib.bs_param_names(self._pointer, transformed, generated))

    def _names(self, text: Optional[bytes]) -> list[str]:
        return text.decode().split(",") if text else []

    def log_density(self, x: Sequence[float], *, jacobian: bool = True, propto: bool = True) -> float:
        """The log density at an unconstrained point.

        jacobian includes the log Jacobians of constrained parameters; propto drops constants of
        statements with ~. Where the model rejects the point, it raises RunError.
        """
        at, value = _Values(self._dim, x), ctypes.c_double()
        self._call("bs_log_density", propto, jacobian, at.pointer, ctypes.addressof(value))
        return value.value

    def log_density_gradient(self, x: Sequence[float], *, jacobian: bool = True, propto: bool = True) -> tuple[float, Any]:
        """The log density at an unconstrained point, and its gradient."""
        at, to, value = _Values(self._dim, x), _Values(self._dim), ctypes.c_double()
        self._call("bs_log_density_gradient", propto, jacobian, at.pointer, ctypes.addressof(value), to.pointer)
        return value.value, to.result()

    def log_density_hessian(self, x: Sequence[float], *, jacobian: bool = True, propto: bool = True) -> tuple[float, Any, Any]:
        """The log density at an unconstrained point, its gradient and its Hessian."""
        n = self._dim
        at, to, second, value = _Values(n, x), _Values(n), _Values(n * n), ctypes.c_double()
        self._call("bs_log_density_hessian", propto, jacobian, at.pointer, ctypes.addressof(value), to.pointer, second.pointer)
        rows = second.result()
        return value.value, to.result(), rows.reshape(n, n) if numpy is not None else [rows[i * n : (i + 1) * n] for i in range(n)]

    def constrain(self, x: Sequence[float], *, transformed: bool = False, generated: bool = False, seed: int = 1) -> Any:
        """The parameters at an unconstrained point, in the order of names.

        transformed and generated add transformed parameters, and generated quantities, whose
        random numbers have the seed.
        """
        at = _Values(self._dim, x)
        to = _Values(int(self._lib.bs_param_num(self._pointer, transformed, generated)))
        message = ctypes.c_void_p()
        rng = self._lib.bs_rng_construct(seed, ctypes.byref(message)) if generated else None
        try:
            self._call("bs_param_constrain", transformed, generated, at.pointer, to.pointer, rng)
        finally:
            if rng:
                self._lib.bs_rng_destruct(rng)
        return to.result()

    def unconstrain(self, values: Mapping[str, Any]) -> Any:
        """The unconstrained point at values of all parameters."""
        to = _Values(self._dim)
        self._call("bs_param_unconstrain_json", _data.as_json(values, ()).encode(), to.pointer)
        return to.result()
