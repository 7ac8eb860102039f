"""Checks that includes under src/ point down only, as layers.toml states it.

Reports upward includes, files outside a layer, cycles between files, includes of files that do not
exist, and third-party headers outside their folders. Exit code 1 when there are any.

usage: check_layers.py [ROOT]
"""

import os
import re
import sys

INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]')


def read_layers(path):
    """The two tables of layers.toml: lines of `key = ["a", "b"]`, so any Python 3 can read them."""
    tables, table = {}, None
    with open(path) as file:
        for line in file:
            line = line.split("#")[0].strip()
            if line.startswith("["):
                table = tables.setdefault(line.strip("[]"), {})
            elif "=" in line:
                key, value = line.split("=", 1)
                table[key.strip().strip('"')] = re.findall(r'"([^"]+)"', value)
    return tables["layers"], tables["third_party"]


def source_files(src):
    for folder, _, names in os.walk(src):
        for name in sorted(names):
            if name.endswith((".h", ".cc", ".cu")):
                yield os.path.relpath(os.path.join(folder, name), src)


def includes(path):
    with open(path, encoding="utf-8") as file:
        for number, line in enumerate(file, 1):
            match = INCLUDE.match(line)
            if match:
                yield number, match.group(1) == '"', match.group(2)


def third_party_problem(name, file, third_party):
    for prefix, folders in third_party.items():
        if name.startswith(prefix) and not any(file.startswith(f + "/") for f in folders):
            return f"{name} belongs to {', '.join(folders)}"
    return None


def find_cycle(graph):
    state, path = {}, []

    def visit(node):
        state[node] = "open"
        path.append(node)
        for other in graph.get(node, ()):
            if state.get(other) == "open":
                return path[path.index(other):] + [other]
            if other not in state:
                cycle = visit(other)
                if cycle:
                    return cycle
        path.pop()
        state[node] = "done"
        return None

    for node in sorted(graph):
        if node not in state:
            cycle = visit(node)
            if cycle:
                return cycle
    return None


def check(root):
    layers, third_party = read_layers(os.path.join(root, "layers.toml"))
    src = os.path.join(root, "src")
    problems, graph = [], {}
    for file in source_files(src):
        layer = file.split(os.sep)[0]
        if layer not in layers or os.sep not in file:
            problems.append(f"src/{file}: outside every layer of layers.toml")
            continue
        is_test = file.endswith("_test.cc")
        for line, quoted, name in includes(os.path.join(src, file)):
            where = f"src/{file}:{line}"
            problem = third_party_problem(name, file, {} if is_test else third_party)
            if problem:
                problems.append(f"{where}: {problem}")
            if not quoted or name.startswith("tests/"):
                continue
            if not os.path.exists(os.path.join(src, name)):
                problems.append(f"{where}: no file src/{name}")
                continue
            other = name.split("/")[0]
            if other != layer and other not in layers[layer]:
                problems.append(f"{where}: {layer} must not include {other} ({name})")
            if file.endswith(".h"):
                graph.setdefault(file, []).append(name)
    cycle = find_cycle(graph)
    if cycle:
        problems.append("cycle: " + " -> ".join(cycle))
    return problems


def main():
    root = sys.argv[1] if len(sys.argv) > 1 else os.path.join(os.path.dirname(__file__), "..")
    problems = check(root)
    for problem in problems:
        print(problem)
    print(f"{len(problems)} problems of layering")
    sys.exit(1 if problems else 0)


if __name__ == "__main__":
    main()
