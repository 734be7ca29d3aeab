"""Starting the program, and ending it: with an exception here, and with this process."""

from __future__ import annotations

import functools
import json
import os
import queue
import signal
import subprocess
import threading
from dataclasses import dataclass
from typing import IO, Any, Callable, Optional, Sequence

from ._carried import binary
from ._errors import RunError

GRACE = 10.0  # seconds that the program has to keep what it has drawn


@dataclass(frozen=True)
class Result:
    """What the program has printed, and its exit code."""

    code: int
    stdout: bytes
    stderr: str

    def json(self) -> Any:
        """The JSON document on standard output; None if there is none."""
        return json.loads(self.stdout) if self.stdout.strip() else None


def run(args: Sequence[str], stdin: Optional[bytes] = None, line: Optional[Callable[[str], bool]] = None) -> Result:
    """Runs the program with arguments.

    line is called with each line on standard error, in this thread, and reports whether it has
    dealt with it; the others are the result's stderr. An exception, Ctrl-C above all, ends the
    program before it goes on.
    """
    options: dict[str, Any] = {}
    if os.name == "posix":
        options["start_new_session"] = True  # Ctrl-C reaches it through this process alone
    else:
        options["creationflags"] = getattr(subprocess, "CREATE_NEW_PROCESS_GROUP")
    program = binary()
    try:
        process = subprocess.Popen(
            [program, *args],
            stdin=subprocess.DEVNULL if stdin is None else subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env={**os.environ, "PPL_PARENT": str(os.getpid())},  # it ends when this process is killed
            **options,
        )
    except OSError as e:
        raise RunError(f"cannot start {program}: {e.strerror}", 1) from None
    try:
        return _talk(process, stdin, line)
    except BaseException:
        _end(process)
        raise
    finally:
        for pipe in (process.stdin, process.stdout, process.stderr):
            if pipe is not None:
                try:
                    pipe.close()
                except OSError:
                    pass


def _talk(process: subprocess.Popen[bytes], stdin: Optional[bytes], line: Optional[Callable[[str], bool]]) -> Result:
    lines: queue.Queue[Optional[str]] = queue.Queue()
    out: list[bytes] = []

    def feed(pipe: IO[bytes], text: bytes) -> None:
        try:
            pipe.write(text)
            pipe.close()
        except OSError:  # the program has ended before it has read all
            pass

    def read_lines(pipe: IO[bytes]) -> None:
        for text in pipe:
            lines.put(text.decode("utf-8", "replace").rstrip("\r\n"))
        lines.put(None)

    assert process.stdout is not None and process.stderr is not None
    threads = [
        threading.Thread(target=lambda pipe: out.append(pipe.read()), args=(process.stdout,), daemon=True),
        threading.Thread(target=read_lines, args=(process.stderr,), daemon=True),
    ]
    if stdin is not None and process.stdin is not None:
        threads.append(threading.Thread(target=feed, args=(process.stdin, stdin), daemon=True))
    for t in threads:
        t.start()
    rest = []
    while True:
        try:
            text = lines.get(timeout=0.2)  # on Windows, Ctrl-C is seen only between waits
        except queue.Empty:
            continue
        if text is None:
            break
        if line is None or not line(text):
            rest.append(text)
    for t in threads:
        t.join()
    return Result(process.wait(), b"".join(out), "\n".join(rest))


def _end(process: subprocess.Popen[bytes]) -> None:
    """Ends the program: asked first, so that a folder with draws is whole, then by force."""
    if process.poll() is not None:
        return
    try:
        process.send_signal(signal.SIGINT if os.name == "posix" else getattr(signal, "CTRL_BREAK_EVENT"))
        # Its output is read on by the threads, so that it does not wait for that.
        process.wait(GRACE)
    except (OSError, subprocess.TimeoutExpired):
        pass
    finally:  # a second Ctrl-C included
        if process.poll() is None:
            if os.name == "posix":
                os.killpg(process.pid, signal.SIGKILL)
            else:
                process.kill()
            process.wait()


@functools.lru_cache(maxsize=None)
def version() -> str:
    """The version of the program, such as v1.2.3; empty if there is no program."""
    try:
        return str(run(["version", "--json"]).json()["version"])
    except RunError:
        return ""
