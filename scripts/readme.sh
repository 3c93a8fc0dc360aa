#!/usr/bin/env bash
# Runs every command of README.md that needs neither key nor network: the lines of its `sh` blocks that begin
# with `wikitrail`, in order, in a folder of their own. Lines marked `# needs` are left out, and said.
set -euo pipefail
cd "$(dirname "$0")/.."
root=$PWD
binary=${WIKITRAIL:-$root/target/release/wikitrail}
[ -x "$binary" ] || cargo build --locked --release
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cp -r datasets prompts experiments "$work"
cd "$work"
PATH=$(dirname "$binary"):$PATH
count=0
while IFS= read -r line; do
    case $line in
    *'# needs'*) printf 'left out: %s\n' "$line" ;;
    *)
        printf '$ %s\n' "$line"
        bash -euo pipefail -c "$line" >out.txt 2>err.txt </dev/null || { cat out.txt err.txt; echo "failed: $line"; exit 1; }
        count=$((count + 1))
        ;;
    esac
done < <(awk '/^```sh$/ { on = 1; next } /^```$/ { on = 0 } on && /^wikitrail / || on && /\| wikitrail /' "$root/README.md")
[ "$count" -ge 8 ] || { echo "only $count commands found in README.md"; exit 1; }
printf '%s commands of README.md ran\n' "$count"
