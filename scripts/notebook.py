"""Executes a notebook in a folder, and says which cells it ran: scripts/notebook.py NOTEBOOK FOLDER [--write].

With --write the outputs are stored in the notebook, as docs show it."""

import json
import sys
from pathlib import Path

import nbformat
from nbclient import NotebookClient

path, folder, *flags = sys.argv[1:]
notebook = nbformat.read(path, as_version=4)
NotebookClient(notebook, timeout=None, kernel_name="python3", resources={"metadata": {"path": folder}}).execute()
code = [cell for cell in notebook.cells if cell.cell_type == "code"]
if "--write" in flags:
    for cell in notebook.cells:
        cell.metadata.pop("execution", None)
    notebook.metadata.language_info = {"name": "python"}
    Path(path).write_text(json.dumps(notebook, indent=1, ensure_ascii=False, sort_keys=True) + "\n", "utf-8")
print(f"{path}: {len(code)} cells executed")
