"""A campaign as pages: one for annotators, one for managers; see `serving.serve` and `SECURITY.md`."""

from importlib.util import find_spec

if any(find_spec(name) is None for name in ("starlette", "uvicorn", "jinja2")):
    raise ImportError("The studio needs Starlette, uvicorn and Jinja: pip install 'labelworth[studio]'.")
