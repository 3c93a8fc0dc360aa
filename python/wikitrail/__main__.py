"""`python -m wikitrail`: the program itself."""

import subprocess
import sys

from ._program import program

sys.exit(subprocess.run([program(), *sys.argv[1:]], check=False).returncode)
