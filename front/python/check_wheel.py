#!/usr/bin/env python3
"""Checks wheels that cannot be run here: by name, contents and the architecture of their programs.

    check_wheel.py FILE…
"""

from __future__ import annotations

import base64
import hashlib
import json
import lzma
import struct
import sys
import zipfile

# The number of the architecture in the head of a program, by its format.
ELF = {"amd64": 62, "arm64": 183}
MACH = {"amd64": 0x01000007, "arm64": 0x0100000C}
PE = {"amd64": 0x8664, "arm64": 0xAA64}
TAGS = {"amd64": ("x86_64", "amd64"), "arm64": ("aarch64", "arm64")}
SYSTEMS = {"linux": ("manylinux", "musllinux"), "darwin": ("macosx",), "windows": ("win_",)}


def system(content: bytes, arch: str) -> str:
    """The system that a program is for; empty if it is for another architecture."""
    if content[:4] == b"\x7fELF":
        return "linux" if struct.unpack_from("<H", content, 18)[0] == ELF[arch] else ""
    if content[:4] == b"\xcf\xfa\xed\xfe":
        return "darwin" if struct.unpack_from("<I", content, 4)[0] == MACH[arch] else ""
    if content[:2] == b"MZ":
        at = struct.unpack_from("<I", content, 60)[0]
        return "windows" if content[at : at + 4] == b"PE\0\0" and struct.unpack_from("<H", content, at + 4)[0] == PE[arch] else ""
    return ""


def check(path: str) -> str:
    """What is wrong with a wheel; empty if nothing is."""
    package, version, _, _, machines = path.rsplit("/", 1)[-1][: -len(".whl")].split("-")
    with zipfile.ZipFile(path) as z:
        names = z.namelist()
        info = f"{package}-{version}.dist-info"
        record = z.read(f"{info}/RECORD").decode().splitlines()
        if sorted(line.rsplit(",", 2)[0] for line in record) != sorted(names):
            return "RECORD does not list the files that are there"
        for line in record:
            name, digest, size = line.rsplit(",", 2)
            if not digest:
                continue
            c = z.read(name)
            if digest != "sha256=" + base64.urlsafe_b64encode(hashlib.sha256(c).digest()).rstrip(b"=").decode() or int(size) != len(c):
                return f"{name} is not what RECORD says"
        about = next((n for n in names if n.endswith("/carried.json")), "")
        if not about:
            return "it has no program"
        carried = json.loads(z.read(about))
        content = lzma.decompress(z.read(about.replace("carried.json", carried["name"] + ".xz")))
        metadata = z.read(f"{info}/METADATA").decode().splitlines()
        if f"Version: {version}" not in metadata:
            return "METADATA has another version than the name"
    if len(content) != carried["size"] or hashlib.sha256(content).hexdigest() != carried["sha256"]:
        return "its program is not what carried.json says"
    os_name, arch = carried["target"].split("/")
    if system(content, arch) != os_name:
        return f"its program is not for {carried['target']}"
    for m in machines.split("."):
        if not m.startswith(SYSTEMS[os_name]) or not m.endswith(TAGS[arch]):
            return f"{m} is not {carried['target']}"
    return ""


def main() -> None:
    wrong = [f"{p}: {w}" for p in sys.argv[1:] for w in [check(p)] if w]
    if wrong or len(sys.argv) < 2:
        raise SystemExit("\n".join(wrong) or __doc__)
    print(f"  {len(sys.argv) - 1} wheels are whole, and for the machines in their names")


if __name__ == "__main__":
    main()
