#!/usr/bin/env python3
"""Prints the licences of the crates that the program is built from, with their texts, for those who receive a binary.

Usage: scripts/third_party.py TARGET >THIRD-PARTY.txt

Reads what `cargo metadata` says and the sources that cargo has fetched. Crates that only other targets or tests use are left out.
Fails if a crate names no licence.
"""

import json
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
TEXTS = re.compile(r"(un)?licen[cs]e|copying|copyright|notice", re.IGNORECASE)


def crates(target):
    """The packages of all normal and build dependencies of the shipped program for a target, sorted by name."""
    command = ["cargo", "metadata", "--locked", "--format-version=1", "--features=parquet", f"--filter-platform={target}"]
    found = json.loads(subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.PIPE).stdout)
    packages = {package["id"]: package for package in found["packages"]}
    edges = {node["id"]: node["deps"] for node in found["resolve"]["nodes"]}
    root = found["resolve"]["root"]
    seen, due = {root}, [root]
    while due:
        for edge in edges[due.pop()]:
            used = any(kind["kind"] != "dev" for kind in edge["dep_kinds"])
            if used and edge["pkg"] not in seen:
                seen.add(edge["pkg"])
                due.append(edge["pkg"])
    return sorted((packages[one] for one in seen - {root}), key=lambda package: (package["name"], package["version"]))


def texts(package):
    """The texts of the licences in a crate's source."""
    folder = Path(package["manifest_path"]).parent
    named = {folder / package["license_file"]} if package["license_file"] else set()
    files = named | {path for path in folder.iterdir() if path.is_file() and TEXTS.match(path.name)}
    return [path.read_text("utf-8", "replace").strip() for path in sorted(files) if path.is_file()]


def main():
    if len(sys.argv) != 2 or sys.argv[1].startswith("-"):
        print(__doc__.strip())
        return 0 if sys.argv[1:] in (["--help"], ["-h"]) else 2
    listed = crates(sys.argv[1])
    bare = [package["name"] for package in listed if not package["license"] and not texts(package)]
    if bare:
        print(f"error: no licence is known of {', '.join(bare)}\nhint: look it up, or use another crate", file=sys.stderr)
        return 1
    lines = [f"wikitrail contains or is built with these {len(listed)} crates. Their licences follow the list.", ""]
    of_text = {}
    for package in listed:
        name = f"{package['name']} {package['version']}"
        licence = package["license"] or "see its text"
        lines.append(f"{name}: {licence}")
        if "MPL" in licence:
            source = package["repository"] or "no repository is named"
            lines.append(f"    source: https://crates.io/crates/{package['name']}/{package['version']} ({source})")
        for text in texts(package):
            of_text.setdefault(text, []).append(name)
    for text, names in of_text.items():
        lines += ["", "=" * 80, ", ".join(names), "=" * 80, "", text]
    sys.stdout.reconfigure(encoding="utf-8", newline="\n")
    print("\n".join(lines))
    return 0


if __name__ == "__main__":
    sys.exit(main())
