#!/bin/sh
# Lists the shipped prices that are older than 120 days (or as many as $1 says), oldest first, and ends with 1 if there are any.
#
#   scripts/prices.sh [DAYS]
set -eu
cd "$(dirname "$0")/.."
days=${1:-120}
oldest=$(date -u -d "$days days ago" +%F 2>/dev/null || date -u -v "-${days}d" +%F)
old=$(awk -F '"' -v oldest="$oldest" '
    /^host = / { host = $2 }
    /^name = / { name = $2 }
    /^as_of = / && $2 < oldest { print $2, name, "(" host ")" }
' src/models/prices.toml | sort)
if [ -n "$old" ]; then
    echo "$old"
    exit 1
fi
echo "no price is older than $days days"
