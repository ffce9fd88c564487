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
for file in META-INF/LICENSE META-INF/CHANGELOG.md module-info.class handlersocket2/errors.txt handlersocket2/HandlerSocketClient.class; do
  grep -qx "$file" "$built/list" || die "$name.jar lacks $file"
done
# The client has no dependency that a program would have to bring along.
jdeps --multi-release base --ignore-missing-deps -s "$built/$name.jar" | grep -v -e 'java\.base$' -e 'org\.jspecify' -e 'not found$' &&
  die "$name.jar needs more than java.base"

# A program that is a module needs nothing but the client on its module path. Its compiler may call each warning an error.
module=$built/module
rm -rf "$module"
mkdir -p "$module/source/shop" "$module/classes"
printf 'module shop {\n    requires handlersocket2;\n    opens shop to handlersocket2;\n}\n' >"$module/source/module-info.java"
cat >"$module/source/shop/Shop.java" <<'JAVA'
package shop;

import handlersocket2.HandlerSocketClient;
import handlersocket2.Index;

public class Shop {
    public record Article(int id, String name) {}

    public static void main(String[] arguments) {
        try (HandlerSocketClient client = HandlerSocketClient.open("handlersocket://127.0.0.1/shop")) {
            Index<Article> articles = client.table("article").open(Article.class);
            System.out.println(articles.getClass().getModule().getName() + " " + client.counters().requests());
        }
    }
}
JAVA
quietly "$log" javac --release 17 -Xlint:all -Werror --module-path "$built/$name.jar" -d "$module/classes" \
  "$module/source/module-info.java" "$module/source/shop/Shop.java"
said=$(java --module-path "$built/$name.jar:$module/classes" --module shop/shop.Shop)
[[ $said == "handlersocket2 0" ]] || die "a module that requires the client says: $said"
