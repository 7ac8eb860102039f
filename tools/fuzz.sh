#!/usr/bin/env bash
# Builds every fuzz target with clang 19 and runs each for some seconds on its seed corpus.
# usage: fuzz.sh BUILD_FOLDER SECONDS
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
build=$1
seconds=$2
if ! command -v clang++-19 >/dev/null; then
  echo "skipped: clang++-19 is not installed"
  exit 77
fi
cmake -S "$root" -B "$build" -G Ninja -DCMAKE_CXX_COMPILER=clang++-19 -DTALLELE_FUZZ=ON \
  -DTALLELE_PYTHON=none -Wno-dev >"$build.log" 2>&1 || { tail -30 "$build.log"; exit 1; }
targets=()
for source in "$root"/fuzz/*_fuzz.cc; do targets+=("$(basename "$source" .cc)"); done
ninja -C "$build" -j2 "${targets[@]}" >>"$build.log" 2>&1 || { tail -60 "$build.log"; exit 1; }
for target in "${targets[@]}"; do
  name=${target%_fuzz}
  work=$(mktemp -d)
  mkdir -p "$work/corpus" "$root/fuzz/corpus/$name"
  echo "== $target, $seconds s"
  if ! "$build/fuzz/$target" -max_total_time="$seconds" -use_value_profile=1 -rss_limit_mb=3000 \
      -timeout=20 -artifact_prefix="$work/" "$work/corpus" "$root/fuzz/corpus/$name" \
      >"$work/log" 2>&1; then
    tail -40 "$work/log"
    echo "$target failed; the input is in $work"
    exit 1
  fi
  tail -1 "$work/log"
  rm -rf "$work"
done
