# Shared by the scripts of this folder: where things are, and how messages are written. It is
# sourced, never run. It makes the shell strict and changes to the repository's top folder.
# shellcheck shell=bash
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
# shellcheck disable=SC2034  # used by the scripts that source this one
repo=$PWD
# The Debian package keeps what it makes outside of its sources.
var=${HS_VAR:-$repo/var}
mkdir -p "$var/log"
# Keeps Python's compiled files out of the sources.
export PYTHONPYCACHEPREFIX=$var/pycache

# Ctrl-C ends the script once the program that it waits for has ended. Without this bash goes on if that program took
# the signal for its own and answered that all went well, as apt-get does.
trap 'exit 130' INT

# Writes one line to stdout before anything that takes time.
say() { printf '== %s\n' "$*"; }

# Writes one line to stderr and ends the script.
die() {
  printf 'error: %s\n' "$*" >&2
  exit 1
}

# The same if a server cannot be downloaded at the moment. A caller that has other servers goes on
# with those.
unavailable_code=75
unavailable() {
  printf 'error: %s\n' "$*" >&2
  exit "$unavailable_code"
}

# The known servers, each with the Debian release that has its packages.
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

# The server of this machine's own Debian release, if there is one. Every server brings its C
# library, and the machine's sanitizers need the machine's version of it, which only this server
# has.
server_of_this_release() {
  local codename server
  # shellcheck source=/dev/null
  codename=$(. /etc/os-release && echo "${VERSION_CODENAME:-}")
  for server in "${servers[@]}"; do
    [[ ${server#*:} != "$codename" ]] || echo "${server%:*}"
  done
}

# no_network LOG: whether a program's output says that it has reached nobody. The words are those of apt, pip and npm.
no_network() {
  grep -qE "Temporary failure (in name )?resol|Could not resolve|(Could not|Unable to|Cannot initiate the) connect|\
Network is unreachable|Failed to establish a new connection|EAI_AGAIN|ENOTFOUND|ENETUNREACH" "$1" &&
    ! grep -qE '^(Hit|Get):[0-9]+ ' "$1"
}

# quietly LOG COMMAND...: runs it with its output in LOG, and shows the end of LOG if it fails.
quietly() {
  local log=$1
  shift
  mkdir -p "$(dirname "$log")"
  if ! "$@" >"$log" 2>&1 </dev/null; then
    ! no_network "$log" || die "no network: '$1' has reached nothing; all of its output is in ${log#"$repo"/}"
    tail -n 25 "$log" >&2
    die "'$1' failed; all of its output is in ${log#"$repo"/}"
  fi
}

# apt_update LOG: reads the lists of packages, with apt's words in LOG. The first try is a short one: where there is no
# network, apt would try each file again for seconds.
apt_update() {
  local short=(-o Acquire::Retries=0 -o Acquire::http::Timeout=10 -o Acquire::https::Timeout=10)
  LC_ALL=C RES_OPTIONS="timeout:2 attempts:2" apt-get -q "${short[@]}" update >"$1" 2>&1 </dev/null &&
    ! grep -q '^Err:' "$1" && return
  ! no_network "$1" || return
  LC_ALL=C apt-get -q update >>"$1" 2>&1 </dev/null
}

# configure TREE CMAKE-ARGUMENTS...: makes the build tree, unless it exists and was made with the
# same words in the same place. The build itself notices later changes of the CMake files.
configure() {
  local tree=$1
  shift
  local wanted="$repo $*"
  [[ ! -e $tree/build.ninja || $(cat "$tree/configured" 2>/dev/null) != "$wanted" ]] || return 0
  # What the mark says is not true any more, whatever becomes of the next command.
  rm -f "$tree/configured"
  quietly "$var/log/configure-$(basename "$tree").log" cmake --fresh -S . -B "$tree" -G Ninja "$@"
  [[ -e $tree/build.ninja ]] || die "cmake has made no $tree/build.ninja"
  echo "$wanted" >"$tree/configured"
}

# The machine's clang: the plain name, or else the newest numbered one; nothing if there is none.
clang_compiler() {
  command -v clang++ || compgen -c clang++- | grep -E '^clang\+\+-[0-9]+$' | sort -t- -k2 -n | tail -n 1
}

summary=()
failed=()
failed_logs=()
# The checks that run beside others: each one's title. Its number names its files in var/log.
beside=()
beside_pids=()

# note TITLE CODE SECONDS LOG: how a check ended, and where its output is. If a server for it cannot be downloaded, it is
# skipped, which is no failure.
note() {
  local verdict=passed
  if (($2 == unavailable_code)); then
    verdict=skipped
  elif (($2 != 0)); then
    verdict=FAILED
    failed+=("$1") failed_logs+=("$4")
  fi
  summary+=("$(printf '%-7s  %4d s  %s' "$verdict" "$3" "$1")")
}

# check TITLE COMMAND...: runs one part of a job in its own shell, and goes on even if it fails.
check() {
  local title=$1 started=$SECONDS log=$var/log/check-${#summary[@]}.log code
  shift
  say "$title"
  # There is no `if` around it, because that would switch off `set -e` inside.
  set +e
  (set -e && "$@") 2>&1 | tee --ignore-interrupts "$log"
  code=${PIPESTATUS[0]}
  set -e
  note "$title" "$code" $((SECONDS - started)) "$log"
}

# check_beside TITLE COMMAND...: starts a check and goes on at once with the next one. join_checks shows its output, in
# one piece. For parts that wait more than they compute.
check_beside() {
  local log=$var/log/beside-${#beside[@]}
  say "$1, beside what follows; its output comes when it has ended"
  rm -f "$log.ended"
  (
    # The command has a shell of its own inside of this one, so it ends at Ctrl-C, which bash ignores behind `&`.
    started=$SECONDS
    set +e
    (set -e && "${@:2}")
    echo "$? $((SECONDS - started))" >"$log.ended"
  ) >"$log.log" 2>&1 </dev/null &
  beside+=("$1")
  beside_pids+=($!)
}

# Waits for the checks that were started beside others, and shows what each has said.
join_checks() {
  local i code seconds log
  for i in "${!beside[@]}"; do
    wait "${beside_pids[i]}" || true
    log=$var/log/beside-$i
    code=1 seconds=0
    # Without the file it was killed.
    [[ ! -e $log.ended ]] || read -r code seconds <"$log.ended"
    say "${beside[i]}"
    cat "$log.log"
    note "${beside[i]}" "$code" "$seconds" "$log.log"
  done
  beside=() beside_pids=()
}

# The end of a job that consists of checks. What those said last that have failed is shown again, because a long output
# may be cut in the middle.
summarise() {
  join_checks
  local i
  for i in "${!failed[@]}"; do
    say "failed: ${failed[i]}; its last lines were"
    tail -n 25 "${failed_logs[i]}"
  done
  say "summary"
  printf '   %s\n' "${summary[@]}"
  ((${#failed[@]} == 0)) || die "${#failed[@]} of ${#summary[@]} failed"
}

# server_thd_size BINARY FUNCTION: the size that the server allocates for its `new THD`, from the
# call in create_thd. It is operator new's first argument on MySQL, and the second argument of
# MariaDB's own function. A caller has to assign what it prints to a variable: in other places bash
# does not notice that it has failed.
server_thd_size() {
  local hex
  command -v objdump >/dev/null || die "objdump is missing: as root, run: apt-get install binutils"
  # shellcheck disable=SC2016  # the $ is objdump's
  hex=$(objdump -d --disassemble="$2" "$1" |
    grep -oE 'mov +\$0x[0-9a-f]{4,},%e[sd]i' | head -n 1 | grep -oE '0x[0-9a-f]+') || true
  [[ -n $hex ]] || die "cannot read sizeof(THD) from $1: its create_thd looks different"
  echo $((hex))
}

# server_value NAME KEY: a value that setup/server.sh has noted about a server. As for server_thd_size, a caller has to
# assign it to a variable.
server_value() {
  local value
  value=$(sed -n "s/^$2=//p" "$var/servers/$1/server.env")
  [[ -n $value ]] || die "var/servers/$1/server.env has no $2: remove that folder, then try again"
  printf '%s\n' "$value"
}
