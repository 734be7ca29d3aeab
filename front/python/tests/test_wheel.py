"""Wheels: the same bits for the same input, and what check_wheel.py finds."""

import importlib.util
import struct
import zipfile
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parents[1]


def module(name):
    spec = importlib.util.spec_from_file_location(name, HERE / (name + ".py"))
    loaded = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(loaded)
    return loaded


wheel, check_wheel = module("wheel"), module("check_wheel")

ARM = b"\x7fELF" + bytes(14) + struct.pack("<H", 183) + bytes(100)
MACH = b"\xcf\xfa\xed\xfe" + struct.pack("<I", 0x01000007) + bytes(100)
PE = b"MZ" + bytes(58) + struct.pack("<I", 64) + b"PE\0\0" + struct.pack("<H", 0xAA64) + bytes(100)


@pytest.mark.parametrize("content, target", [(ARM, "linux/arm64"), (MACH, "darwin/amd64"), (PE, "windows/arm64")])
def test_wheels(tmp_path, content, target):
    made = []
    for name in "ab":
        to = tmp_path / name
        to.mkdir()
        (to / "program").write_bytes(content)
        made.append(wheel.wheel("engine", to / "program", target, "v1.2.3-rc.1", to, True))
    assert made[0].name == made[1].name and made[0].read_bytes() == made[1].read_bytes()
    assert made[0].name.startswith("ppl-1.2.3rc1-py3-none-")
    assert check_wheel.check(str(made[0])) == ""
    with zipfile.ZipFile(made[0]) as z:
        assert {n for n in z.namelist() if n.endswith(".py")} == {"ppl/" + p.name for p in (HERE / "ppl").glob("*.py")}
        assert "ppl/py.typed" in z.namelist()
    other = "linux/amd64" if target != "linux/amd64" else "linux/arm64"
    wrong = wheel.wheel("engine", to / "program", other, "v1.2.3", to, True)
    assert "not for linux/amd64" in check_wheel.check(str(wrong))
    damaged = tmp_path / made[0].name
    with zipfile.ZipFile(made[0]) as z, zipfile.ZipFile(damaged, "w") as out:
        for n in z.namelist():
            out.writestr(n, z.read(n) + (b"#" if n.endswith("_fit.py") else b""))
    assert "_fit.py is not what RECORD says" in check_wheel.check(str(damaged))


def test_versions():
    for go, python in (
        ("v1.2.3", "1.2.3"), ("v1.2.3-beta.2", "1.2.3b2"), ("devel", "0.0.0.dev0"),
        ("v0.0.0-20261127025840-a044a0d12345", "0.0.0.dev20261127025840+ga044a0d12345"),
        ("v1.2.4-0.20261127025840-a044a0d12345+dirty", "1.2.4.dev20261127025840+ga044a0d12345"),
    ):  # fmt: skip
        assert wheel.python_version(go) == python


def test_library_needs(tmp_path):
    """A library of Linux is for the newest version of the C library that it asks for."""
    assert wheel.tag("library", "linux/amd64", b"\0GLIBC_2.4\0GLIBC_2.34\0GLIBC_2.9\0") == "manylinux_2_34_x86_64"
    assert wheel.tag("library", "linux/arm64", b"") == "manylinux_2_17_aarch64"
