"""The blocks of Python in README.md run, in their order, as one program."""

import os
import re
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.skipif("VEHICLE_INFERENCE_BASE_URL" not in os.environ, reason="no service is running")

README = Path(__file__).parents[1] / "README.md"


def test_the_readme_runs_and_prints_what_it_says(capsys: Any, monkeypatch: Any, tmp_path: Path):
    blocks = re.findall(r"^```python\n(.*?)^```\n\n?(?:<!-- prints: ([^\n]*) -->)?", README.read_text(), re.M | re.S)
    assert len(blocks) > 8
    monkeypatch.chdir(tmp_path)
    (tmp_path / "dashboard.jpg").write_bytes(Path(os.environ["EXAMPLE_PICTURE"]).read_bytes())
    (tmp_path / "car.jpg").write_bytes(Path(os.environ["EXAMPLE_PICTURE"]).read_bytes())
    namespace: Any = {"__name__": "readme"}
    for code, prints in blocks:
        exec(compile(code, str(README), "exec"), namespace)
        printed = capsys.readouterr().out
        if prints:
            assert re.search(prints, printed, re.S), f"{code}\nprinted {printed}"
