#!/usr/bin/env bash
# Builds the layers below the outputs with clang 19, AddressSanitizer and UndefinedBehaviorSanitizer,
# and runs their unit tests. usage: sanitized_tests.sh BUILD_FOLDER
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
build=$1
if ! command -v clang++-19 >/dev/null; then
  echo "skipped: clang++-19 is not installed"
  exit 77
fi
cmake -S "$root" -B "$build" -G Ninja -DCMAKE_CXX_COMPILER=clang++-19 -DTALLELE_SANITIZE=ON \
  -DTALLELE_PYTHON=none -Wno-dev >"$build.log" 2>&1 || { tail -30 "$build.log"; exit 1; }
targets=(base_test kernels_test genotype_test cohort_test product_conformance_test)
ninja -C "$build" -j2 "${targets[@]}" >>"$build.log" 2>&1 || { tail -60 "$build.log"; exit 1; }
for target in "${targets[@]}"; do
  program=$(find "$build" -type f -name "$target" -perm -u+x | head -1)
  echo "== $target"
  "$program" --gtest_brief=1
done
