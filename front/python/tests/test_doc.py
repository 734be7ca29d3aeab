"""The code of doc/how-to/python.md, block after block."""

import os
import re
import shutil
from pathlib import Path

import pytest

import ppl
from conftest import SCHOOLS, SCHOOLS_DATA

PAGE = Path(os.environ.get("PPL_DOC") or Path(__file__).resolve().parents[3] / "doc" / "how-to" / "python.md")


def test_page(tmp_path, monkeypatch):
    """Blocks that need what is not installed are left out."""
    pytest.importorskip("numpy")  # most of the page works with arrays
    monkeypatch.chdir(tmp_path)
    shutil.copy(SCHOOLS, "eight_schools.model")
    shutil.copy(SCHOOLS_DATA, "eight_schools.data.json")
    space: dict = {"__name__": "page"}
    ran, left = 0, []
    for block in re.finditer(r"^```python[^\n]*\n(.*?)^```$", PAGE.read_text(), re.MULTILINE | re.DOTALL):
        line = PAGE.read_text()[: block.start()].count("\n") + 1
        try:
            exec(compile("\n" * line + block.group(1), str(PAGE), "exec"), space)
            ran += 1
        except (ModuleNotFoundError, ppl.LibraryError) as e:
            left.append(f"line {line}: {e}")
    print("left out:", left)
    assert ran >= 8 and len(left) <= 4, left
