# Shared by the scripts of this folder: where things are, and how they speak.
# Sourced, never run. Leaves the shell strict and in the repository's top folder.
# shellcheck shell=bash
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
# shellcheck disable=SC2034  # used by the scripts that source this one
repo=$PWD
var=$repo/var
mkdir -p "$var/log"
# Python's compiled files stay out of the sources.
export PYTHONPYCACHEPREFIX=$var/pycache

# One line to stdout before anything that takes its time.
say() { printf '== %s\n' "$*"; }

# One line to stderr, and the end.
die() {
  printf 'error: %s\n' "$*" >&2
  exit 1
}

# The same where a server cannot be had at the moment: whoever has others to go on with does so.
unavailable_code=75
unavailable() {
  printf 'error: %s\n' "$*" >&2
  exit "$unavailable_code"
}

# The servers that are known, each with the Debian release that carries it.
servers=(mariadb-10.11:bookworm mariadb-11.8:trixie mysql-9.7:sid)

server_names() { printf '%s\n' "${servers[@]%:*}"; }

# server_release NAME
server_release() {
  local server known=
  for server in "${servers[@]}"; do
    [[ ${server%:*} != "$1" ]] || { echo "${server#*:}" && return; }
    known+=" ${server%:*}"
  done
  die "SERVER=$1 is unknown; known are$known"
}

# quietly LOG COMMAND...: runs it with its output in LOG, and shows the end of LOG if it fails.
quietly() {
  local log=$1
  shift
  mkdir -p "$(dirname "$log")"
  if ! "$@" >"$log" 2>&1 </dev/null; then
    tail -n 25 "$log" >&2
    die "'$1' failed; all of its output is in ${log#"$repo"/}"
  fi
}

# configure TREE CMAKE-ARGUMENTS...: makes the build tree unless it is there, made by the same words
# in the same place. Later changes of the CMake files are the build's own business.
configure() {
  local tree=$1
  shift
  local wanted="$repo $*"
  [[ $(cat "$tree/configured" 2>/dev/null) != "$wanted" ]] || return 0
  quietly "$var/log/configure-$(basename "$tree").log" cmake --fresh -S . -B "$tree" -G Ninja "$@"
  echo "$wanted" >"$tree/configured"
}

summary=()
failures=0

# check TITLE COMMAND...: runs one part of a job in a shell of its own and goes on whatever comes of it.
# A part for which a server cannot be had is skipped, which is no failure.
check() {
  local title=$1 started=$SECONDS verdict=passed code
  shift
  say "$title"
  # No `if` around it: that would switch `set -e` off inside.
  set +e
  (set -e && "$@")
  code=$?
  set -e
  if ((code == unavailable_code)); then
    verdict=skipped
  elif ((code != 0)); then
    verdict=FAILED
    failures=$((failures + 1))
  fi
  summary+=("$(printf '%-7s  %4d s  %s' "$verdict" $((SECONDS - started)) "$title")")
}

# The end of a job made of checks.
summarise() {
  say "summary"
  printf '   %s\n' "${summary[@]}"
  ((failures == 0)) || die "$failures of ${#summary[@]} failed"
}

# server_thd_size BINARY FUNCTION: the size that the server gives its `new THD`, from the call in create_thd.
# It is operator new's first argument on MySQL, the second of MariaDB's own.
server_thd_size() {
  local hex
  # shellcheck disable=SC2016  # the $ is objdump's
  hex=$(objdump -d --disassemble="$2" "$1" |
    grep -oE 'mov +\$0x[0-9a-f]{4,},%e[sd]i' | head -n 1 | grep -oE '0x[0-9a-f]+') || true
  [[ -n $hex ]] || die "cannot read sizeof(THD) from $1: its create_thd looks different"
  echo $((hex))
}

# server_value NAME KEY: what setup/server.sh noted about a server.
server_value() {
  sed -n "s/^$2=//p" "$var/servers/$1/server.env"
}
