#!/bin/bash
# Makes var/go/bin/go: a Go that is new enough for clients/go. That is the machine's own, or else one
# that the machine's own, however old, downloads as the module that its releases are published as.
#
#   setup/go.sh        prints the folder of the program
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

# What is downloaded, if the machine's own is older than clients/go/go.mod asks for.
release=go1.27.4

wanted=$(sed -n 's/^go //p' clients/go/go.mod)
folder=$var/go/bin

# is_new_enough GO
is_new_enough() {
  local version
  version=$(cd / && GOTOOLCHAIN=local "$1" env GOVERSION 2>/dev/null) || return 1
  [[ $(printf '%s\n' "$wanted" "${version#go}" | sort -V | head -n 1) == "$wanted" ]]
}

if ! is_new_enough "$folder/go"; then
  own=$(command -v go) || die "Go is not installed: setup/packages.sh go"
  mkdir -p "$folder"
  if is_new_enough "$own"; then
    ln -sfn "$own" "$folder/go"
    ln -sfn "$(GOTOOLCHAIN=local "$own" env GOROOT)/bin/gofmt" "$folder/gofmt"
  else
    say "downloading $release, 64 MB" >&2
    module=golang.org/toolchain@v0.0.1-$release.linux-amd64
    # GOFLAGS: what is downloaded can be deleted like other files.
    (cd "$var/go" && GOMODCACHE=$var/go/modules GOFLAGS=-modcacherw GOTOOLCHAIN=local \
      quietly "$var/log/go.log" "$own" mod download "$module")
    rm -rf "$var/go/modules/cache"
    # A module's files are not executable.
    chmod -R a+rx "$var/go/modules/$module"/{bin,pkg/tool}
    ln -sfn "$var/go/modules/$module/bin/"{go,gofmt} "$folder/"
  fi
  is_new_enough "$folder/go" || die "there is no Go $wanted: $folder/go is older"
fi
echo "$folder"
