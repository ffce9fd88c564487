#!/bin/bash
# make lint: format and style of everything.
#
#   setup/lint.sh NAME [--fix]      --fix: mends what can be mended by itself
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

name=$1
fix=${2:-}

# Every file of the project whose name ends in one of the given endings.
list_files() {
  local pattern=() ending
  for ending in "$@"; do pattern+=(-o -name "*$ending"); done
  find . \( -path ./build -o -path ./var -o -path ./.git -o -name node_modules -o -name '.*_cache' \) -prune -o \
    -type f \( "${pattern[@]:1}" \) -print | sort
}

clang_format() {
  local mode=(--dry-run -Werror)
  [[ $fix != --fix ]] || mode=(-i)
  list_files .cc .h | xargs -r clang-format-14 "${mode[@]}"
}

# clang_tidy NAME FOLDER: reads only files that the build for that server compiles, because only
# these have flags. The flags are the compiler's. clang does not know all of them, and cannot use
# the headers that the compiler has precompiled.
clang_tidy() {
  local server=$1 folder=$2 tree=build/tidy-$1
  configure "$tree" -DHS_SERVER="$var/servers/$server" -DCMAKE_DISABLE_PRECOMPILE_HEADERS=ON
  cmake --build "$tree" --target vectors_made  # a header that tests include
  python3 -c 'import json, sys; print(*sorted({unit["file"] for unit in json.load(open(sys.argv[1]))}), sep="\n")' \
    "$tree/compile_commands.json" | grep -E "^$repo/$folder" |
    xargs -r -P "$(nproc)" -n 1 clang-tidy-14 -p "$tree" --quiet \
      --extra-arg=-Wno-ignored-optimization-argument 2>"$var/log/clang-tidy.log"
}

# The parts of the layer for the other families, each if a server of the family is there already.
clang_tidy_other_families() {
  local other seen=" ${name%%-*} "
  for other in $(server_names); do
    [[ $seen != *" ${other%%-*} "* ]] || continue
    if [[ ! -e $var/servers/$other/server.env ]]; then
      say "left out: src/mysqld/*/${other%%-*}, which needs setup/server.sh $other first"
      continue
    fi
    seen+="${other%%-*} "
    check "clang-tidy of src/mysqld/*/${other%%-*}" clang_tidy "$other" "src/mysqld/[a-z]+/${other%%-*}/"
  done
}

shell_scripts() {
  local script scripts=()
  for script in .ci/run bench/run setup/package/{postinst,prerm,postrm}; do [[ ! -f $script ]] || scripts+=("$script"); done
  list_files .sh | xargs -r shellcheck --external-sources --source-path=SCRIPTDIR "${scripts[@]}"
}

container_style() { var/venv/bin/hadolint tools/container/Dockerfile; }

python_style() {
  local style=() format=(--check)
  [[ $fix != --fix ]] || style=(--fix) format=()
  var/venv/bin/ruff check --quiet "${style[@]}" .
  var/venv/bin/ruff format "${format[@]}" .
}

python_types() {
  local path=(setup/*.py tests/vectors/as_header.py)
  [[ ! -d clients/python/src ]] || path+=(clients/python/src clients/python/tests/typed_calls.py)
  var/venv/bin/mypy --strict --cache-dir=var/mypy "${path[@]}"
  MYPYPATH=setup:bench var/venv/bin/mypy --strict --cache-dir=var/mypy -p comparison -m clients.__main__
  MYPYPATH=tools var/venv/bin/mypy --strict --cache-dir=var/mypy --ignore-missing-imports -p hs_top
  MYPYPATH=tests:setup:clients/python/src var/venv/bin/mypy --strict --cache-dir=var/mypy --ignore-missing-imports \
    --follow-imports=silent --explicit-package-bases -p soak -p client_soak
}

setup/packages.sh build lint
setup/server.sh "$name"
setup/venv.sh setup/lint-requirements.txt

check clang-format clang_format
check shellcheck shell_scripts
check hadolint container_style
check ruff python_style
check mypy python_types
check clang-tidy clang_tidy "$name" ""
clang_tidy_other_families
summarise
