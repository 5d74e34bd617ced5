"""The version of the studies is that of labelworth, which stands in the `pyproject.toml` beside this folder."""

import tomllib
from pathlib import Path

from setuptools import setup

product = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text(encoding="utf-8"))["project"]
setup(version=product["version"], install_requires=[f"labelworth=={product['version']}", "threadpoolctl>=3.5"])
