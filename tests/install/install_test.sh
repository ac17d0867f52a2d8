#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# The installed tree is a library: headers that compile by themselves, find_package and pkg-config,
# and the three examples, which know nothing but the installed tree, build and run.
#
#     install_test.sh CMAKE BUILD SOURCE COMPILER WORK
set -eu
cmake=$1 build=$2 source=$3 compiler=$4 work=$5

rm -rf "$work"
mkdir -p "$work"
"$cmake" --install "$build" --prefix "$work/prefix" >"$work/install.log"
"$work/prefix/bin/abortscope" --version

echo "every installed header compiles by itself"
(cd "$work/prefix/include/abortscope" && find . -name '*.hpp' | sed 's|^\./||') >"$work/headers"
test -s "$work/headers"
while read -r header; do
    echo "#include \"$header\""
    echo "#include \"$header\"" >"$work/header.cpp"
    "$compiler" -std=c++20 -Wall -Wextra -Werror -fsyntax-only \
        -I "$work/prefix/include/abortscope" "$work/header.cpp"
done <"$work/headers"

echo "examples through find_package"
"$cmake" -S "$source/examples" -B "$work/examples" -DCMAKE_BUILD_TYPE=Release \
    -DCMAKE_CXX_COMPILER="$compiler" -DCMAKE_PREFIX_PATH="$work/prefix" >"$work/configure.log"
"$cmake" --build "$work/examples" >"$work/build.log" || { cat "$work/build.log"; exit 1; }
"$work/examples/bank"
"$work/examples/regions" "$work/regions.csv"
"$work/examples/retry_loop"
head -1 "$work/regions.csv" | grep -q '^schema_version,scenario,phase,'
test "$(grep -c ',region,' "$work/regions.csv")" = 2

echo "an example through pkg-config"
PKG_CONFIG_PATH=$(dirname "$(find "$work/prefix" -name abortscope.pc)")
export PKG_CONFIG_PATH
if command -v pkg-config >/dev/null; then
    # Word splitting is what pkg-config's output is for.
    # shellcheck disable=SC2046
    "$compiler" -std=c++20 -O2 $(pkg-config --cflags abortscope) "$source/examples/bank.cpp" \
        -o "$work/bank" $(pkg-config --libs abortscope)
    "$work/bank"
else
    echo "pkg-config is not installed: left out"
fi
