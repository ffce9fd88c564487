#!/bin/bash
# make draw-dashboard: draws the Grafana dashboard with Grafana's own published components, from a server under load.
#
#   setup/draw_dashboard.sh NAME [SECONDS]    SECONDS: how long the load runs, which is what the graphs show (60)
#
# The first time it installs Chromium, if there is none (a download of 130 MB, 430 MB of disk), and gets the components into
# var/grafana (180 MB, 460 MB of disk). That takes two minutes. The components that package.json names have fixed versions;
# what these need in turn is what the registry has. The picture is var/grafana/dashboard.png.
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

name=$1
seconds=${2:-60}
tree=$var/grafana
setup/packages.sh build test draw
setup/server.sh "$name"
setup/build.sh "$name"
setup/monitors.sh
setup/venv.sh tests/requirements.txt

# package.json comes there last: without it, or if it is another one, the components are got again.
if ! cmp -s tests/grafana/package.json "$tree/package.json"; then
  say "getting Grafana's components (once)"
  rm -rf "$tree"
  mkdir -p "$tree/work"
  cp tests/grafana/package.json "$tree/work/"
  quietly "$var/log/npm.log" npm --prefix "$tree/work" install --no-audit --no-fund --ignore-scripts --no-package-lock
  [[ -x $tree/work/node_modules/.bin/esbuild ]] || die "npm has not installed esbuild; see ${var#"$repo"/}/log/npm.log"
  mv "$tree/work/node_modules" "$tree/"
  mv "$tree/work/package.json" "$tree/"
  rm -rf "$tree/work"
fi
cp tests/grafana/page.tsx "$tree/page.tsx"
quietly "$var/log/esbuild.log" "$tree/node_modules/.bin/esbuild" "$tree/page.tsx" --bundle --minify --jsx=automatic \
  "--define:process.env.NODE_ENV=\"production\"" --loader:.ttf=empty --outfile="$tree/page.js"

say "running the load for $seconds seconds"
cd tests
SERVER=$name HS_DRAW_SECONDS=$seconds ../var/venv/bin/python -m pytest -q --tb=short -o cache_dir="$var/pytest" \
  grafana/drawing.py </dev/null
say "the picture is in ${tree#"$repo"/}/dashboard.png"
