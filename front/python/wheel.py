#!/usr/bin/env python3
"""Makes the wheels of the Python package, by the standard library alone.

    wheel.py engine FILE OS/ARCH VERSION DIR [--quick]    ppl, with the program FILE
    wheel.py library FILE OS/ARCH VERSION DIR [--quick]   ppl_library, with libppl, FILE

OS and ARCH are Go's names. The same input gives the same bits. --quick compresses less, for tests.
"""

from __future__ import annotations

import base64
import hashlib
import json
import lzma
import re
import sys
import zipfile
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent

# What pip calls the machines that programs of Go run on. The program is static: it runs with any
# C library on Linux. libppl is linked with one of GNU: its version is that of the file.
MACHINES = {
    "linux/amd64": "manylinux_2_17_x86_64.musllinux_1_1_x86_64",
    "linux/arm64": "manylinux_2_17_aarch64.musllinux_1_1_aarch64",
    "darwin/amd64": "macosx_12_0_x86_64",
    "darwin/arm64": "macosx_12_0_arm64",
    "windows/amd64": "win_amd64",
    "windows/arm64": "win_arm64",
}
ABOUT = {
    "engine": ("ppl", "Stan's language, sampled without a compiler"),
    "library": ("ppl_library", "libppl, by which the package ppl evaluates log densities in process"),
}
LIMIT = 10_000_000  # bytes


def python_version(v: str) -> str:
    """A version of Go's as Python writes it: v1.2.3, v1.2.3-rc.1, or one of a commit, with time and hash."""
    m = re.fullmatch(r"v?(\d+\.\d+\.\d+)(?:-(.*?))?(\+dirty)?", v)
    if m is None:
        return "0.0.0.dev0"
    base, more = m.group(1), m.group(2) or ""
    commit = re.search(r"(\d{14})-([0-9a-f]{12})$", more)
    if commit:
        return f"{base}.dev{commit.group(1)}+g{commit.group(2)}"
    candidate = re.fullmatch(r"(alpha|beta|rc)\.?(\d+)", more)
    if candidate:
        return base + {"alpha": "a", "beta": "b", "rc": "rc"}[candidate.group(1)] + candidate.group(2)
    return base


def compressed(content: bytes, arch: str, quick: bool) -> bytes:
    """A file in xz's format, as any Python reads it."""
    preset = 1 if quick else 9 | lzma.PRESET_EXTREME
    filters: list[dict[str, Any]] = [{"id": lzma.FILTER_X86}] if arch == "amd64" else []
    filters.append({"id": lzma.FILTER_LZMA2, "preset": preset, "dict_size": 1 << 26})
    return lzma.compress(content, format=lzma.FORMAT_XZ, check=lzma.CHECK_CRC64, filters=filters)


def tag(kind: str, target: str, content: bytes) -> str:
    """The machines that a file runs on, as the name of a wheel has them."""
    if kind == "library" and target.startswith("linux/"):
        versions = [tuple(map(int, v.split(b"."))) for v in re.findall(rb"GLIBC_(\d+\.\d+)\0", content)]
        major, minor = max(versions, default=(2, 17))
        return f"manylinux_{major}_{max(minor, 17)}_{MACHINES[target].split('.')[0].split('_', 3)[3]}"
    return MACHINES[target]


def wheel(kind: str, file: Path, target: str, version: str, to: Path, quick: bool) -> Path:
    """Writes a wheel and returns its path."""
    package, summary = ABOUT[kind]
    content = file.read_bytes()
    machine = tag(kind, target, content)
    name = file.suffix if kind == "library" else ".exe" if target.startswith("windows/") else ""
    name = ("libppl" if kind == "library" else "ppl") + name
    v = python_version(version)
    info = f"{package}-{v}.dist-info"
    files: dict[str, bytes] = {}
    if kind == "engine":
        for path in sorted((HERE / package).iterdir()):
            if path.suffix == ".py" or path.name == "py.typed":
                files[f"{package}/{path.name}"] = path.read_bytes()
        folder = f"{package}/engine"
        files[f"{info}/entry_points.txt"] = b"[console_scripts]\nppl = ppl.__main__:main\n"
    else:
        folder = package
        files[f"{package}/__init__.py"] = f'"""{summary}."""\n'.encode()
    carried = {"name": name, "sha256": hashlib.sha256(content).hexdigest(), "size": len(content), "target": target, "version": version}
    files[f"{folder}/carried.json"] = (json.dumps(carried, sort_keys=True) + "\n").encode()
    files[f"{folder}/{name}.xz"] = compressed(content, target.split("/")[1], quick)
    readme = (HERE / "README.md").read_text(encoding="utf-8")
    files[f"{info}/METADATA"] = (
        f"Metadata-Version: 2.1\nName: {package.replace('_', '-')}\nVersion: {v}\nSummary: {summary}\n"
        f"License: {license_name()}\nRequires-Python: >=3.9\nDescription-Content-Type: text/markdown\n\n{readme}"
    ).encode()
    tags = "".join(f"Tag: py3-none-{m}\n" for m in machine.split("."))
    files[f"{info}/WHEEL"] = f"Wheel-Version: 1.0\nGenerator: ppl\nRoot-Is-Purelib: false\n{tags}".encode()
    files[f"{info}/LICENSE"] = (HERE.parent.parent / "LICENSE").read_bytes()
    licenses = file.parent.parent / "LICENSES.txt"  # of what is in the program, where a release has it
    if licenses.exists():
        files[f"{info}/LICENSES.txt"] = licenses.read_bytes()
    record = "".join(f"{n},sha256={digest(c)},{len(c)}\n" for n, c in sorted(files.items()))
    files[f"{info}/RECORD"] = f"{record}{info}/RECORD,,\n".encode()

    out = to / f"{package}-{v}-py3-none-{machine}.whl"
    with zipfile.ZipFile(out, "w") as z:
        for n, c in sorted(files.items(), key=lambda f: (f[0].startswith(info), f[0])):
            entry = zipfile.ZipInfo(n, (1980, 1, 1, 0, 0, 0))
            entry.compress_type = zipfile.ZIP_STORED if n.endswith(".xz") else zipfile.ZIP_DEFLATED
            entry.create_system, entry.external_attr = 3, 0o100644 << 16
            z.writestr(entry, c)
    if out.stat().st_size > LIMIT and not quick:
        raise SystemExit(f"{out.name} has {out.stat().st_size} bytes; {LIMIT} is the limit")
    return out


def digest(content: bytes) -> str:
    return base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()


def license_name() -> str:
    """The licence in the file LICENSE, by its first line that has a text."""
    text = (HERE.parent.parent / "LICENSE").read_text(encoding="utf-8")
    return next(line.strip() for line in text.splitlines() if line.strip())


def main() -> None:
    args = [a for a in sys.argv[1:] if a != "--quick"]
    if len(args) != 5 or args[0] not in ABOUT or args[2] not in MACHINES:
        raise SystemExit(__doc__)
    out = wheel(args[0], Path(args[1]), args[2], args[3], Path(args[4]), "--quick" in sys.argv)
    print(f"  {out.name}: {out.stat().st_size / 1e6:.2f} MB")


if __name__ == "__main__":
    main()
