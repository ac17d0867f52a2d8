# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# Sourced by ./quickstart and ./run-tests: installs what is missing and builds a preset.

say() { printf '\n== %s\n' "$*" >&2; }

# packages_for build|test: their names, one a line. Testing needs what building needs.
packages_for() {
  awk -v purpose="$1" '!/^#/ && NF == 2 && ($1 == "build" || $1 == purpose) {print $2}' \
    scripts/packages.txt
}

missing_packages() {
  local package
  for package in $(packages_for "$1"); do
    case $(dpkg-query -W -f='${db:Status-Abbrev}' "$package" 2>/dev/null) in
      ii*) ;;
      *) printf '%s\n' "$package" ;;
    esac
  done
}

# install_missing build|test: by apt where this user may, otherwise a list and the end.
install_missing() {
  local missing as_root=()
  if ! command -v dpkg-query >/dev/null || ! command -v apt-get >/dev/null; then
    printf 'This is not a Debian system. Install what these Debian packages hold:\n  %s\n' \
      "$(packages_for "$1" | paste -sd' ')" >&2
    printf 'Then: cmake --preset release && cmake --build --preset release\n' >&2
    exit 1
  fi
  missing=$(missing_packages "$1")
  [ -n "$missing" ] || return 0
  missing=$(paste -sd' ' <<<"$missing")
  if [ "$(id -u)" -ne 0 ]; then
    if ! command -v sudo >/dev/null || ! sudo -n true 2>/dev/null; then
      printf 'These packages are missing, and this user may not install them. Please run:\n' >&2
      printf '  sudo apt-get install %s\n' "$missing" >&2
      exit 1
    fi
    as_root=(sudo -n)
  fi
  say "Installing $missing"
  "${as_root[@]}" apt-get update -qq
  # shellcheck disable=SC2086  # a list of words
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
    apt-get install -y -qq --no-install-recommends $missing >&2
}

# build_preset PRESET [TARGET...]: configures and builds, quietly unless something is wrong.
build_preset() {
  local preset=$1 log target=()
  shift
  [ $# -eq 0 ] || target=(--target "$@")
  mkdir -p build
  log=build/$preset.log
  say "Building build/$preset (output in $log)"
  if ! { cmake --preset "$preset" && cmake --build --preset "$preset" "${target[@]}"; } \
    >"$log" 2>&1; then
    tail -n 60 "$log" >&2
    printf 'The build of %s failed; the whole output is in %s\n' "$preset" "$log" >&2
    return 1
  fi
}
