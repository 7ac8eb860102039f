#!/usr/bin/env bash
# Fails when a C++ file is not formatted as .clang-format says. `--fix` formats instead.
set -euo pipefail
cd "$(dirname "$0")/.."
formatter=$(command -v clang-format-19 || true)
if [ -z "$formatter" ]; then
  echo "skipped: clang-format-19 is not installed"
  exit 77
fi
mapfile -t files < <(find src tests bench fuzz \( -name '*.h' -o -name '*.cc' \) | sort)
if [ "${1:-}" = "--fix" ]; then
  "$formatter" -i "${files[@]}"
else
  "$formatter" --dry-run -Werror "${files[@]}"
fi
