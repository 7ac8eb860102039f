#!/usr/bin/env bash
# Installs what building and testing needs: Debian packages (as root or through sudo) and, in a
# private .venv, the Python packages that Debian does not have. Does nothing when all is there.
set -euo pipefail
cd "$(dirname "$0")/.."

packages=(g++ cmake ninja-build ccache mold pkg-config python3 python3-venv
  libdeflate-dev libzstd-dev zlib1g-dev libsqlite3-dev libeigen3-dev libtbb-dev
  libcli11-dev libtomlplusplus-dev nlohmann-json3-dev libfmt-dev libssl-dev
  libxxhash-dev libhdf5-dev libzip-dev libyaml-cpp-dev libgtest-dev libgmock-dev libbenchmark-dev libsimde-dev
  libcurl4-openssl-dev
  clang-19 clang-format-19 libclang-rt-19-dev lld-19)
wheels=(pyarrow numpy duckdb polars h5py)

missing=()
if command -v dpkg-query >/dev/null; then
  for package in "${packages[@]}"; do
    dpkg-query -W -f '${Status}' "$package" 2>/dev/null | grep -q '^install ok installed' ||
      missing+=("$package")
  done
else
  echo "This is not a Debian system: install the equivalents of these packages by hand,"
  echo "  ${packages[*]}"
fi
if [ ${#missing[@]} -gt 0 ]; then
  as_root=()
  if [ "$(id -u)" -ne 0 ]; then
    if ! command -v sudo >/dev/null; then
      echo "These packages are missing, and neither root nor sudo is at hand to install them:" >&2
      echo "  ${missing[*]}" >&2
      exit 1
    fi
    as_root=(sudo)
  fi
  echo "Installing ${#missing[@]} packages: ${missing[*]}"
  "${as_root[@]}" apt-get update -qq
  DEBIAN_FRONTEND=noninteractive "${as_root[@]}" apt-get install -y -qq --no-install-recommends \
    "${missing[@]}" >/dev/null
fi

if ! .venv/bin/python -c 'import pyarrow, numpy, duckdb, polars, h5py' 2>/dev/null; then
  echo "Installing into .venv: ${wheels[*]}"
  python=$([ -x /usr/bin/python3 ] && echo /usr/bin/python3 || echo python3)
  rm -rf .venv
  "$python" -m venv .venv
  .venv/bin/python -m pip install --quiet --disable-pip-version-check "${wheels[@]}"
fi
