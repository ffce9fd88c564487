#!/bin/bash
# The Java client's own tests, which need no server, and the archives that a registry would take.
#
#   setup/test_client_java.sh
#
# tests/clients/test_java_client.py tests it against a server. Nothing is left outside of build/ and
# Maven's own repository.
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

command -v mvn >/dev/null || die "the tests of the Java client need Maven: apt-get install default-jdk-headless maven"
built=$repo/build/clients/java
log=$var/log/client-java.log

quietly "$log" mvn -B -f clients/java -DbuildDirectory="$built" verify
grep -h "Tests run:.*Time elapsed" "$log" | sed 's/^\[INFO\] //'

name=handlersocket2-client-$(sed -n 's|^  <version>\(.*\)</version>|\1|p' clients/java/pom.xml)
for archive in "$name" "$name-sources" "$name-javadoc"; do
  [[ -s $built/$archive.jar ]] || die "Maven has made no $archive.jar"
done
jar --list --file "$built/$name.jar" >"$built/list"
for file in META-INF/LICENSE module-info.class handlersocket2/errors.txt handlersocket2/HandlerSocketClient.class; do
  grep -qx "$file" "$built/list" || die "$name.jar lacks $file"
done
# The client has no dependency that a program would have to bring along.
jdeps --multi-release base --ignore-missing-deps -s "$built/$name.jar" | grep -v -e 'java\.base$' -e 'org\.jspecify' -e 'not found$' &&
  die "$name.jar needs more than java.base"
exit 0
