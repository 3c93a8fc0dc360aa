#!/usr/bin/env bash
# One archive of a release: the program, its completions and manual pages, its licences and those of its crates; and its SHA-256 sum
# beside it.
set -euo pipefail

usage() {
    cat <<'TEXT'
Usage: scripts/package.sh PROGRAM TARGET FOLDER

Writes FOLDER/wikitrail-VERSION-TARGET.tar.gz (.zip for Windows) and the same with .sha256. PROGRAM must run on this machine.
TEXT
}

if [ "$#" != 3 ]; then
    case ${1-} in
    --help | -h)
        usage
        exit 0
        ;;
    esac
    printf 'error: three arguments are needed, not %d\nhint: see scripts/package.sh --help\n' "$#" >&2
    exit 2
fi
program=$1 target=$2 folder=$3
here=$(cd "$(dirname "$0")/.." && pwd)
version=$("$program" --version)
name=wikitrail-${version#wikitrail }-$target
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

mkdir -p "$folder" "$work/$name/completions"
suffix=
case $target in *windows*) suffix=.exe program=${program%.exe}.exe ;; esac
cp "$program" "$work/$name/wikitrail$suffix"
cp "$here"/{README.md,CHANGELOG.md,LICENSE-MIT,LICENSE-APACHE} "$work/$name"
python=python3
command -v python3 >/dev/null || python=python
"$python" "$here/scripts/third_party.py" "$target" >"$work/$name/THIRD-PARTY.txt"
for shell in bash zsh fish elvish powershell; do
    case $shell in
    zsh) file=_wikitrail ;;
    powershell) file=_wikitrail.ps1 ;;
    fish) file=wikitrail.fish ;;
    elvish) file=wikitrail.elv ;;
    *) file=wikitrail.bash ;;
    esac
    "$program" completions "$shell" >"$work/$name/completions/$file"
done
"$program" man --out "$work/$name/man"

case $target in
*windows*) archive=$name.zip && (cd "$work" && 7z a -bso0 "$archive" "$name") ;;
*) archive=$name.tar.gz && (cd "$work" && tar -czf "$archive" "$name") ;;
esac
mv "$work/$archive" "$folder/"
cd "$folder"
if command -v sha256sum >/dev/null; then
    sha256sum "$archive" >"$archive.sha256"
else
    shasum -a 256 "$archive" >"$archive.sha256"
fi
printf '%s\n' "$archive"
