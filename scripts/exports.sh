#!/usr/bin/env bash
# What `export` writes for other programs, opened by their own packages: Inspect's log by inspect_ai, ATIF by Harbor's models, the
# Hugging Face folder by datasets, traces by the messages of opentelemetry-proto and by Phoenix, and the recipes of docs/exports.md for
# Weights & Biases, MLflow and Phoenix run as the page prints them. Prints what was counted; exits with 1 when a package refuses a file,
# or reads something else than the run holds.
set -euo pipefail
cd "$(dirname "$0")/.."

usage() {
    cat <<'TEXT'
Usage: scripts/exports.sh [--with PACKAGES]

Options:
  --with PACKAGES  the packages to try, as for pip [default: inspect_ai==0.3.285 datasets==5.2.0 harbor==0.25.0
                   opentelemetry-proto==1.45.2 wandb==0.31.0 mlflow==3.17.2 arize-phoenix==20.26.1]; of harbor only the package itself is
                   installed, whose models need pydantic alone; wandb, mlflow and arize-phoenix keep their data in a temporary folder
  --help           this text

Environment:
  WIKITRAIL        the program [default: target/debug/wikitrail, which is built]
TEXT
}

packages='inspect_ai==0.3.285 datasets==5.2.0 harbor==0.25.0 opentelemetry-proto==1.45.2'
packages+=' wandb==0.31.0 mlflow==3.17.2 arize-phoenix==20.26.1'
while [ $# -gt 0 ]; do
    case $1 in
    --with)
        packages=${2-}
        shift
        ;;
    --help | -h)
        usage
        exit 0
        ;;
    *)
        printf 'error: unknown argument `%s`\nhint: see scripts/exports.sh --help\n' "$1" >&2
        exit 2
        ;;
    esac
    shift
done
if [ -z "$packages" ]; then
    printf 'error: --with needs packages, such as inspect_ai==0.3.285\nhint: see scripts/exports.sh --help\n' >&2
    exit 2
fi

binary=${WIKITRAIL-}
if [ -z "$binary" ]; then
    cargo build --locked --quiet
    binary=$PWD/target/debug/wikitrail
fi

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
for package in $packages; do
    # Each has an environment of its own: some ask for other versions of the same packages. Harbor itself asks for a newer Python and
    # for clients of clouds; its models need neither.
    only=()
    also=()
    case $package in
    harbor*)
        only=(--no-deps --ignore-requires-python)
        also=(pydantic)
        ;;
    wandb*) also=(pandas) ;;
    esac
    name=${package%%[=<>]*}
    python3 -m venv "$work/$name"
    pip=("$work/$name/bin/pip" --quiet --disable-pip-version-check install)
    if { "${pip[@]}" "${only[@]}" "$package" && { [ ${#also[@]} -eq 0 ] || "${pip[@]}" "${also[@]}"; }; } >"$work/log" 2>&1; then
        echo "$package"
        mkdir "$work/$name/runs"
        HF_HOME="$work/hf" HF_HUB_OFFLINE=1 PYTHONDONTWRITEBYTECODE=1 \
            "$work/$name/bin/python" scripts/exports.py "$binary" "$work/$name/runs" "$name"
        rm -rf "${work:?}/$name"
    else
        tail -n 3 "$work/log"
        echo "exports: $package is not tried, as it cannot be installed here"
    fi
done
