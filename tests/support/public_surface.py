"""The public surface of the package as text: every public name with signature and types, as written in the source.

python tests/support/public_surface.py      # renews tests/unit/public_surface.txt

Read from the source, not from what is imported: the text is the same on every version of Python. Beside the names
of `labelworth` it holds their base classes, and what they give back of the rooms whose values people hold in hand.
"""

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SOURCES = ROOT / "src"
STORED = ROOT / "tests" / "unit" / "public_surface.txt"
PACKAGE = "labelworth"
_LONGEST = 110
IN_HAND = ("campaign", "channels", "criteria", "formats", "planning", "robust")

Place = tuple[str, str]
"""A module and a name in it."""


def surface() -> str:
    """All of it: names of `labelworth` first, then what they give back."""
    public = [place for name in _public_names() if (place := _found(PACKAGE, name)) is not None]
    texts, reached = {}, list(public)
    while reached:
        place = reached.pop(0)
        if place not in texts:
            nodes = _definitions(place[0])[place[1]]
            texts[place] = "\n".join(line for node in nodes for line in _lines(node))
            reached += [other for node in nodes for other in _given_back(node, place[0])]
    named, others = ([texts[place] for place in group] for group in (public, sorted(set(texts) - set(public))))
    return "\n\n".join([*named, "# What they give back.", *others]) + "\n"


def _public_names() -> list[str]:
    (names,) = (
        ast.literal_eval(node.value)
        for node in _tree(PACKAGE).body
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__"
    )
    return sorted(names)


@cache
def _tree(module: str) -> ast.Module:
    path = SOURCES.joinpath(*module.split("."))
    file = path / "__init__.py" if path.is_dir() else path.with_suffix(".py")
    return ast.parse(file.read_text(encoding="utf-8"))


@cache
def _definitions(module: str) -> dict[str, list[ast.stmt]]:
    """Classes, functions and aliases of types that a module defines."""
    return _by_name(_tree(module).body)


def _by_name(parts: list[ast.stmt]) -> dict[str, list[ast.stmt]]:
    """What is defined, by name; of a function with overloads these, and not what stands behind them."""
    found: dict[str, list[ast.stmt]] = {}
    for part in parts:
        if isinstance(part, ast.FunctionDef):
            overloads = [one for one in found.get(part.name, ()) if _is_overload(one)]
            found[part.name] = [*overloads, part] if _is_overload(part) or not overloads else overloads
        elif isinstance(part, ast.ClassDef):
            found[part.name] = [part]
        elif isinstance(part, ast.AnnAssign) or (
            isinstance(part, ast.Assign) and isinstance(part.targets[0], ast.Name)
        ):
            found[ast.unparse(part.target if isinstance(part, ast.AnnAssign) else part.targets[0])] = [part]
    return found


def _is_overload(node: ast.stmt) -> bool:
    return isinstance(node, ast.FunctionDef) and "overload" in map(ast.unparse, node.decorator_list)


@cache
def _imports(module: str) -> dict[str, Place]:
    """What a module imports from ours, also for types alone."""
    return {
        alias.asname or alias.name: (node.module, alias.name)
        for node in ast.walk(_tree(module))
        if isinstance(node, ast.ImportFrom) and node.module and node.module.split(".")[0] == PACKAGE
        for alias in node.names
    }


def _found(module: str, name: str) -> Place | None:
    """Where a name is defined; None: not in our sources."""
    while name not in _definitions(module):
        if name not in _imports(module):
            return None
        module, name = _imports(module)[name]
    return module, name


def _members(node: ast.ClassDef) -> dict[str, list[ast.stmt]]:
    """Public fields and methods of its own, by name."""
    return {
        name: parts
        for name, parts in _by_name(node.body).items()
        if isinstance(parts[0], ast.FunctionDef | ast.AnnAssign) and (not name.startswith("_") or name == "__init__")
    }


def _lines(node: ast.stmt) -> Iterator[str]:
    if isinstance(node, ast.ClassDef):
        decorators = "".join(f"@{ast.unparse(one)} " for one in node.decorator_list)
        yield f"{decorators}class {node.name}({', '.join(map(ast.unparse, node.bases))})"
        # The order of fields is that of arguments; that of methods means nothing.
        members = _members(node)
        fields = [name for name, parts in members.items() if isinstance(parts[0], ast.AnnAssign)]
        ordered = (*fields, *sorted(members.keys() - set(fields)))
        for part in (part for name in ordered for part in members[name]):
            text = _signature(part, "    ") if isinstance(part, ast.FunctionDef) else ast.unparse(part)
            yield f"    {text}"
    elif isinstance(node, ast.FunctionDef):
        yield _signature(node)
    else:
        yield ast.unparse(node)


def _signature(node: ast.FunctionDef, indent: str = "") -> str:
    """On one line, or with an argument on each where that is long: a difference is then one line."""
    decorators = "".join(f"@{ast.unparse(one)} " for one in node.decorator_list)
    returns = f" -> {ast.unparse(node.returns)}" if node.returns else ""
    line = f"{decorators}{node.name}({ast.unparse(node.args)}){returns}"
    if len(line) <= _LONGEST:
        return line
    arguments = "".join(f"{indent}    {argument},\n" for argument in _arguments(node.args))
    return f"{decorators}{node.name}(\n{arguments}{indent}){returns}"


def _arguments(node: ast.arguments) -> Iterator[str]:
    plain = [*node.posonlyargs, *node.args]
    defaults: list[ast.expr | None] = [*[None] * (len(plain) - len(node.defaults)), *node.defaults]
    starred = [f"*{ast.unparse(node.vararg)}"] if node.vararg else ["*"] * bool(node.kwonlyargs)
    for argument, default in zip(plain, defaults, strict=True):
        yield _argument(argument, default)
    yield from starred
    for argument, default in zip(node.kwonlyargs, node.kw_defaults, strict=True):
        yield _argument(argument, default)
    if node.kwarg:
        yield f"**{ast.unparse(node.kwarg)}"


def _argument(node: ast.arg, default: ast.expr | None) -> str:
    return ast.unparse(node) + (f" = {ast.unparse(default)}" if default is not None else "")


def _given_back(node: ast.stmt, module: str) -> Iterator[Place]:
    """Base classes, our own types that are given back, and aliases of types wherever they stand."""
    annotations: list[ast.AST | None] = []
    if isinstance(node, ast.ClassDef):
        for base in node.bases:
            if (place := _found(module, ast.unparse(base).split("[")[0])) is not None:
                yield place
        parts = [part for parts in _members(node).values() for part in parts]
    else:
        parts = [node]
    for part in parts:
        if isinstance(part, ast.FunctionDef):
            annotations += [
                part.returns,
                *(one.annotation for one in ast.walk(part.args) if isinstance(one, ast.arg)),
            ]
        elif isinstance(part, ast.AnnAssign):
            annotations.append(part.annotation)
    for annotation in annotations:
        for name in _names(annotation):
            place = _found(module, name)
            if place is not None and _is_told(place, is_taken=annotation not in _results(parts)):
                yield place


def _results(parts: list[ast.stmt]) -> list[ast.AST | None]:
    return [
        part.returns if isinstance(part, ast.FunctionDef) else getattr(part, "annotation", None) for part in parts
    ]


def _is_told(place: Place, *, is_taken: bool) -> bool:
    module, name = place
    if not isinstance(_definitions(module)[name][0], ast.ClassDef | ast.FunctionDef):
        return module.split(".")[1] != "arrays"
    return not is_taken and not name.startswith("_") and module.split(".")[1] in IN_HAND


def _names(annotation: ast.AST | None) -> Iterator[str]:
    for node in ast.walk(annotation) if annotation is not None else ():
        if isinstance(node, ast.Name):
            yield node.id
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value.isidentifier():
            yield node.value


if __name__ == "__main__":
    STORED.write_text(surface(), encoding="utf-8")
