"""Compiles whole models with Stan's samplers, by what httpstan's wheel has. Run by itself: what all models share."""

import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

import stan  # noqa: E402  (benchmarks/peers/stan.py)


class Compiler(stan.Compiler):
    source = HERE / "sample.cpp"

    def __init__(self):
        super().__init__(HERE / ".venv/built")

    def model(self, code):
        return code


if __name__ == "__main__":
    Compiler().prepare()
