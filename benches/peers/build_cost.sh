#!/usr/bin/env bash
# What a framework costs its user at build time: processor seconds of a clean release build of a minimal program, and the size
# of that program, stripped. `build_cost.sh [FRAMEWORK ...]`; all of them take about half an hour.
set -euo pipefail
cd "$(dirname "$0")/minimal"

frameworks=("$@")
[ $# -gt 0 ] || frameworks=(constformer nalgebra rten candle burn tract)
target=$(mktemp -d)
trap 'rm -rf "$target"' EXIT
exec 3>&2 # what cargo says, not to be taken for a time
TIMEFORMAT='%U %S'

cargo fetch -q # what is downloaded is not counted
printf '| framework | clean build, processor seconds | stripped program, MB | crates |\n|---|---:|---:|---:|\n'
for framework in "${frameworks[@]}"; do
    rm -rf "${target:?}"/*
    seconds=$({ time cargo build -q --release --features "$framework" --target-dir "$target" 2>&3; } 2>&1)
    strip "$target/release/minimal"
    size=$(stat -c %s "$target/release/minimal")
    crates=$(cargo tree -q --features "$framework" --edges normal,build --prefix none | sort -u | wc -l)
    printf '| %s | %s | %s | %s |\n' "$framework" \
        "$(awk '{printf "%.0f", $1 + $2}' <<< "$seconds")" "$(awk -v b="$size" 'BEGIN {printf "%.1f", b / 1e6}')" "$crates"
done
