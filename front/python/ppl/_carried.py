"""The files that wheels carry: the program, and libppl, compressed by xz.

They are unpacked on first use into a folder of the user's, by their SHA-256, since the folder of
the package may be read-only. Processes that do so at the same time do not disturb each other.
"""

from __future__ import annotations

import importlib.util
import json
import os
import sys
import tempfile
from pathlib import Path

from ._errors import LibraryError, RunError

ENGINE = "PPL_BINARY"  # environment variables: the program
LIBRARY = "PPL_LIBRARY"  # and libppl, in the place of those that wheels carry
CACHE = "PPL_CACHE"  # where they are unpacked


def cache_folder() -> Path:
    """Where carried files are unpacked."""
    if os.environ.get(CACHE):
        return Path(os.environ[CACHE])
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local") / "ppl" / "cache"
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches" / "ppl"
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "ppl"


def unpacked(folder: Path) -> Path:
    """The file that carried.json in a folder of a package describes, unpacked."""
    about = json.loads((folder / "carried.json").read_text())
    place = cache_folder() / str(about["sha256"])[:32] / str(about["name"])
    try:
        if place.stat().st_size == about["size"]:
            return place
    except OSError:
        pass
    import hashlib
    import lzma

    with lzma.open(folder / (about["name"] + ".xz")) as f:
        content = f.read()
    if hashlib.sha256(content).hexdigest() != about["sha256"]:
        raise RunError(f"{folder} is damaged: install the package again", 1)
    try:
        place.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        descriptor, temporary = tempfile.mkstemp(dir=place.parent)
    except OSError as e:
        raise RunError(f"cannot unpack ppl into {place.parent}: {e.strerror}; name another folder by the environment variable {CACHE}", 1) from None
    with os.fdopen(descriptor, "wb") as f:
        f.write(content)
    os.chmod(temporary, 0o755)
    try:
        os.replace(temporary, place)
    except OSError:  # on Windows, another process runs the file that it has put there
        os.unlink(temporary)
        if not place.exists():
            raise
    return place


def binary() -> str:
    """The path of the program."""
    given = os.environ.get(ENGINE)
    if given:
        return given
    folder = Path(__file__).parent / "engine"
    if not (folder / "carried.json").exists():
        raise RunError(
            f"this copy of the package has no program: install a wheel for your machine, or name the program ppl by the environment variable {ENGINE}", 1
        )
    return str(unpacked(folder))


def library() -> str:
    """The path of libppl."""
    given = os.environ.get(LIBRARY)
    if given:
        return given
    found = importlib.util.find_spec("ppl_library")
    if found is None or not found.submodule_search_locations:
        raise LibraryError(
            "libppl, which evaluates densities in this process, is not installed: install the wheel ppl_library for your "
            f"machine, or build libppl (doc/bridgestan.md) and name it by the environment variable {LIBRARY}"
        )
    return str(unpacked(Path(found.submodule_search_locations[0])))
