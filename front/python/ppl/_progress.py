"""Progress in terminals and notebooks."""

from __future__ import annotations

import html
import json
import sys
import time
from dataclasses import dataclass
from typing import Any, Callable, Optional, Union


@dataclass(frozen=True)
class Progress:
    """How far a chain of a run is."""

    chain: int  # from 1
    iteration: int  # transitions made, warm-up included
    total: int  # transitions planned
    phase: str  # warm-up or sampling
    divergences: int  # so far, of the phase
    left: str  # the time to the end of the run, in words; empty if it is not known yet


Shown = Union[bool, None, Callable[[Progress], object]]


def reader(progress: Shown, chains: int) -> Callable[[str], bool]:
    """What reads the program's lines of progress; True and None show it where a person looks."""
    if callable(progress):
        return _Reader(progress, None).line
    view: Optional[_View] = None
    if progress is not False:
        if _in_notebook():
            view = _Notebook(chains)
        elif sys.stderr is not None and sys.stderr.isatty():
            view = _Terminal(chains)
    return _Reader(None, view).line


def _in_notebook() -> bool:
    shell = sys.modules.get("IPython")
    try:
        return shell is not None and shell.get_ipython().__class__.__name__ == "ZMQInteractiveShell"
    except AttributeError:
        return False


class _Reader:
    def __init__(self, call: Optional[Callable[[Progress], object]], view: Optional[_View]) -> None:
        self.call, self.view = call, view

    def line(self, text: str) -> bool:
        """Deals with a line, if it is one of progress or a remark."""
        if not text.startswith("{"):
            return False
        try:
            o = json.loads(text)
        except ValueError:
            return False
        if "note" in o:
            if self.view is not None:
                self.view.note(o["note"])
            return True
        if "iteration" not in o:
            return False
        p = Progress(o["chain"], o["iteration"], o["total"], o["phase"], o["divergences"], o.get("left", ""))
        if self.call is not None:
            self.call(p)
        elif self.view is not None:
            self.view.update(p)
        return True


class _View:
    """Shows the progress of all chains; show is called at most ten times a second."""

    def __init__(self, chains: int) -> None:
        self.chains: dict[int, Progress] = {}
        self.count, self.last = chains, 0.0

    def update(self, p: Progress) -> None:
        self.chains[p.chain] = p
        now = time.monotonic()
        done = self.done() == self.count
        if done or now - self.last > 0.1:
            self.last = now
            self.show(done)

    def done(self) -> int:
        return sum(p.iteration == p.total for p in self.chains.values())

    def share(self) -> float:
        return sum(p.iteration / max(p.total, 1) for p in self.chains.values()) / max(self.count, 1)

    def text(self) -> str:
        warm = sum(p.phase == "warm-up" for p in self.chains.values())
        divergences = sum(p.divergences for p in self.chains.values() if p.phase == "sampling")
        left = next((p.left for p in reversed(list(self.chains.values())) if p.left), "")
        parts = [f"{100 * self.share():.0f} %", f"{self.done()} of {self.count} chains done"]
        parts += [f"{warm} in warm-up"] if warm else []
        parts += [f"{divergences} divergent"] if divergences else []
        return ", ".join(parts + ([left] if left else []))

    def show(self, done: bool) -> None:
        raise NotImplementedError

    def note(self, text: str) -> None:
        raise NotImplementedError


class _Terminal(_View):
    def show(self, done: bool) -> None:
        filled = int(20 * self.share())
        sys.stderr.write(f"\r[{'#' * filled}{'.' * (20 - filled)}] {self.text()}\x1b[K" + ("\n" if done else ""))
        sys.stderr.flush()

    def note(self, text: str) -> None:
        plain = "".join(c if c.isprintable() or c in "\n\t" else repr(c)[1:-1] for c in text)
        sys.stderr.write(f"\r\x1b[K{plain}\n")


class _Notebook(_View):
    def __init__(self, chains: int) -> None:
        super().__init__(chains)
        self.handle: Any = None
        self.notes: list[str] = []

    def show(self, done: bool) -> None:
        from IPython.display import HTML, display  # type: ignore[import]

        notes = "".join(f"<div><small>{html.escape(n)}</small></div>" for n in self.notes)
        bar = HTML(f"<progress max='1' value='{self.share():.4f}'></progress> {html.escape(self.text())}{notes}")
        if self.handle is None:
            self.handle = display(bar, display_id=True)
        else:
            self.handle.update(bar)

    def note(self, text: str) -> None:
        self.notes = [*self.notes, text][-20:]
        self.show(False)
