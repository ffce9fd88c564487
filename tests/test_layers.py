"""The limits that ARCHITECTURE.md sets, and what the documents have to contain.

The limits say which folder of src/ may include which.
"""

import re
from collections import Counter
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parent.parent
SOURCES = REPOSITORY / "src"

KEYS = "keys"
PROTOCOL = "handlersocket/protocol"
SESSION = "handlersocket/session"
REDIS_PROTOCOL = "redis/protocol"
REDIS = "redis/session"
MEMCACHED_PROTOCOL = "memcached/protocol"
MEMCACHED = "memcached/session"
# Each folder, and the folders that it may include besides itself.
ALLOWED = {
    "base": set(),
    "store": {"base"},
    "net": {"base"},
    "tls": {"net"},
    "passes": {"base", "store", "net"},
    PROTOCOL: {"base", "store"},
    SESSION: {"base", "store", PROTOCOL, "net", "passes"},
    KEYS: {"base", "store"},
    REDIS_PROTOCOL: {"base", "store", KEYS},
    REDIS: {"base", "store", KEYS, REDIS_PROTOCOL, "net", "passes"},
    MEMCACHED_PROTOCOL: {"base", "store", KEYS},
    MEMCACHED: {"base", "store", KEYS, MEMCACHED_PROTOCOL, "net", "passes"},
    "simulator": {
        "base",
        "store",
        "net",
        "passes",
        SESSION,
        KEYS,
        REDIS,
        MEMCACHED_PROTOCOL,
        MEMCACHED,
    },
    "standalone": {"base", "store", "net", "passes", SESSION},
    "mysqld": {"base", "store", "passes", SESSION, KEYS, REDIS, MEMCACHED, "net", "tls"},
}
# Each room of mysqld/, and what it may include besides itself: the rooms below it, and the folders.
ROOMS = {
    "server": ({"base"}, set()),
    "thread": ({"base"}, {"server"}),
    "accounts": ({"base", "store"}, {"server"}),
    "opening": ({"base", "store"}, {"server", "thread"}),
    "reading": ({"base", "store"}, {"server", "accounts", "opening"}),
    "writing": ({"base", "store"}, {"server", "opening", "reading"}),
    "store": (
        {"base", "store"},
        {"server", "thread", "accounts", "opening", "reading", "writing"},
    ),
    "plugin": (
        {"base", "net", "passes", SESSION, KEYS, REDIS, MEMCACHED, "tls"},
        {"server", "thread", "accounts", "store"},
    ),
}
# The layers above net/ see only these headers of it.
CONTRACTS = {
    "net/application.h",
    "net/byte_filter.h",
    "net/peer.h",
    "net/server.h",
    "net/waiting_bytes.h",
}
FAMILIES = ("mariadb", "mysql")
# What reads InnoDB's memory. MariaDB's server lends a plugin nothing of it.
ONLY_OF_MYSQL = {
    "mysqld/server/innodb.h",
    "mysqld/server/layout_proof.cc",
    "mysqld/server/layout_proof.h",
}
# The simulator takes the place of the server's threads and its kernel.
STANDS_IN_FOR_NET = "simulator"
# Headers that a target of CMake chooses or makes. They are named without a folder.
WITHOUT_FOLDER = {"kernel_calls.h", "protocol_vectors.h"}
LONGEST_DOCUMENT_LINE = 160
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]', re.MULTILINE)


def includes(file: Path) -> list[tuple[str, str]]:
    return INCLUDE.findall(file.read_text())


def folder_of(name: str) -> str:
    """The folder of a header, as ALLOWED names it."""
    path = Path(name)
    return next((folder for folder in ALLOWED if path.is_relative_to(folder)), path.parts[0])


def is_of_a_family(file: Path, name: str) -> bool:
    """Whether it is a header of the family that CMake has chosen, named without its folder."""
    return (
        file.is_relative_to(SOURCES / "mysqld") and re.fullmatch(r"family_\w+\.h", name) is not None
    )


def files(folder: str) -> list[Path]:
    return sorted([*(SOURCES / folder).rglob("*.h"), *(SOURCES / folder).rglob("*.cc")])


def test_every_folder_is_named_here_and_in_the_architecture() -> None:
    named = {str(path.parent.relative_to(SOURCES)) for path in SOURCES.glob("**/CMakeLists.txt")}
    assert named - {"."} == set(ALLOWED)
    sources = {path for suffix in ("h", "cc") for path in SOURCES.rglob(f"*.{suffix}")}
    assert sources == {file for folder in ALLOWED for file in files(folder)}
    page = (REPOSITORY / "ARCHITECTURE.md").read_text()
    assert [folder for folder in ALLOWED if f"{Path(folder).name}/ " not in page] == []


def test_no_folder_includes_one_above_it() -> None:
    wrong = []
    for folder, allowed in ALLOWED.items():
        for file in files(folder):
            for quote, name in includes(file):
                target = folder_of(name)
                if quote != '"' or target == folder or is_of_a_family(file, name):
                    continue
                if target not in allowed and name not in WITHOUT_FOLDER:
                    wrong.append(f"{file.relative_to(SOURCES)} includes {name}")
    assert wrong == []


def test_no_room_of_mysqld_includes_or_names_one_above_it() -> None:
    """It names no class of such a room either: a declaration would be enough to point to it."""
    mysqld = SOURCES / "mysqld"
    assert {path.name for path in mysqld.iterdir() if path.is_dir()} == set(ROOMS)
    assert [path.name for path in mysqld.iterdir() if path.suffix in {".h", ".cc"}] == []
    home = {
        name: room
        for room in ROOMS
        for file in files(f"mysqld/{room}")
        if file.suffix == ".h"
        for name in re.findall(r"^(?:class|struct) (\w+)[^;]*{", file.read_text(), re.MULTILINE)
    }
    assert home["IndexPlan"] == "reading" and home["TableStore"] == "store"
    wrong = []
    for room, (folders, rooms) in ROOMS.items():
        for file in files(f"mysqld/{room}"):
            place = file.relative_to(SOURCES)
            for quote, name in includes(file):
                if quote != '"' or name in WITHOUT_FOLDER or is_of_a_family(file, name):
                    continue
                folder = folder_of(name)
                target = Path(name).parts[1]
                may = target in {room, *rooms} if folder == "mysqld" else folder in folders
                if not may:
                    wrong.append(f"{place} includes {name}")
            code = re.sub(r"//.*", "", file.read_text())
            wrong += [
                f"{place} names {name}"
                for name, where in home.items()
                if where not in {room, *rooms} and re.search(rf"\b{name}\b", code)
            ]
    assert wrong == []


def test_other_layers_see_only_the_contracts_of_net() -> None:
    wrong = [
        f"{file.relative_to(SOURCES)} includes {name}"
        for folder in ALLOWED
        if folder not in {"net", STANDS_IN_FOR_NET}
        for file in files(folder)
        for quote, name in includes(file)
        if quote == '"' and name.startswith("net/") and name not in CONTRACTS
    ]
    assert wrong == []


def test_only_mysqld_includes_the_servers_headers() -> None:
    """In mysqld/ that is one file for each family, and what MySQL needs to log."""
    servers = re.compile(
        r"^(sql/|my_|mysql|sql_|handler\.h|mysqld|lock\.h|key\.h|transaction\.h|set_var)"
    )
    found = {
        str(file.relative_to(SOURCES))
        for folder in ALLOWED
        for file in files(folder)
        for quote, name in includes(file)
        if servers.match(name) and not name.startswith("mysqld/")
    }
    assert found == {
        "mysqld/server/mariadb/family_headers.h",
        "mysqld/server/mysql/family_headers.h",
        "mysqld/server/mysql/logging.cc",
    }


def test_only_the_plugin_knows_the_tables_of_ports_and_options() -> None:
    """A build of the tests has one more port, and compiles this room alone again."""
    tables = {"base/ports.h", "base/options.h"}
    knowing = {
        str(file.parent.relative_to(SOURCES)).removesuffix("/mariadb").removesuffix("/mysql")
        for folder in ALLOWED
        for file in files(folder)
        for _, name in includes(file)
        if name in tables and str(file.relative_to(SOURCES)) not in tables
    }
    assert knowing == {"mysqld/plugin"}


def test_the_families_have_the_same_files_and_versions_are_asked_for_nowhere_else() -> None:
    """A family's files stand in a folder of its name, in whichever rooms it has some."""
    families = {
        family: {
            str(file.relative_to(SOURCES)).replace(f"/{family}/", "/")
            for file in files("mysqld")
            if file.parent.name == family
        }
        for family in FAMILIES
    }
    assert families["mariadb"] == families["mysql"] - ONLY_OF_MYSQL != set()
    conditions = re.compile(r"^\s*#\s*(if|ifdef|ifndef|elif)\b", re.MULTILINE)
    asking = [
        str(file.relative_to(SOURCES))
        for file in files("mysqld")
        if conditions.search(file.read_text()) and file.parent.name not in FAMILIES
    ]
    assert asking == []


def test_every_header_says_what_it_is() -> None:
    """Each header begins with a comment, and is included once."""
    wrong = []
    for folder in ALLOWED:
        for file in files(folder):
            if file.suffix != ".h":
                continue
            text = file.read_text()
            if not text.startswith("// ") or "#pragma once" not in text:
                wrong.append(str(file.relative_to(SOURCES)))
    assert wrong == []


def test_what_only_tests_include_is_named_so() -> None:
    """Programs include every header except those whose names begin with test_."""

    def is_for_tests(path: Path) -> bool:
        return path.name.startswith("test_") or path.stem.endswith(("_test", "_fuzz"))

    headers = {
        str(file.relative_to(SOURCES)): is_for_tests(file)
        for folder in ALLOWED
        for file in files(folder)
        if file.suffix == ".h"
    }
    programs = [
        file
        for top in (SOURCES, REPOSITORY / "bench")
        for suffix in ("h", "cc")
        for file in top.rglob(f"*.{suffix}")
        if not is_for_tests(file)
    ]
    included = {name for file in programs for _, name in includes(file)}
    # Some headers are included without their folder, see WITHOUT_FOLDER.
    used = {name: name.split("/")[-1] in included or name in included for name in headers}
    assert [name for name, for_tests in headers.items() if for_tests == used[name]] == []


def test_no_two_test_files_have_one_name() -> None:
    """pytest imports a test file by its name alone, so a second one of that name ends the run."""
    tests = [
        path
        for top in ("tests", "clients/python/tests")
        for path in sorted((REPOSITORY / top).rglob("test_*.py"))
    ]
    names = Counter(path.name for path in tests)
    assert [str(path.relative_to(REPOSITORY)) for path in tests if names[path.name] > 1] == []


def test_files_stay_short() -> None:
    long = {
        str(file.relative_to(SOURCES)): lines
        for folder in ALLOWED
        for file in files(folder)
        if (lines := len(file.read_text().splitlines())) > 500
    }
    assert long == {}


def test_everything_has_the_same_version() -> None:
    """Until it is released, the Python client and the Debian package have a version below it."""
    (version, state) = re.findall(
        r"^## (\d+\.\d+\.\d+)(.*)$", (REPOSITORY / "CHANGELOG.md").read_text(), re.MULTILINE
    )[0]
    assert f"VERSION {version} " in (REPOSITORY / "CMakeLists.txt").read_text()
    client = version + (".dev0" if state == " (not released yet)" else "")
    python = REPOSITORY / "clients/python"
    assert f'version = "{client}"' in (python / "pyproject.toml").read_text()
    assert f'__version__ = "{client}"' in (python / "src/handlersocket2/__init__.py").read_text()
    major, minor, _ = map(int, version.split("."))
    declared = [
        int(number, 16)
        for family in FAMILIES
        for number in re.findall(
            r"^ +(0x\d{4}),$",
            (SOURCES / f"mysqld/plugin/{family}/plugin_declaration.cc").read_text(),
            re.MULTILINE,
        )
    ]
    assert declared and set(declared) == {major << 8 | minor}


def documents() -> list[Path]:
    return [
        *sorted(REPOSITORY.glob("*.md")),
        *sorted(REPOSITORY.glob("docs/*.md")),
        REPOSITORY / "clients/README.md",
        *sorted(REPOSITORY.glob("clients/*/*.md")),
        REPOSITORY / "tests/vectors/README.md",
    ]


def test_no_line_of_a_document_is_long() -> None:
    """This also holds for tables: what does not fit into a cell is below its table."""
    names = {str(document.relative_to(REPOSITORY)) for document in documents()}
    assert {"README.md", "docs/protocol.md", "clients/python/README.md"} <= names
    long = [
        f"{document.relative_to(REPOSITORY)}:{number} has {len(line)} characters"
        for document in documents()
        for number, line in enumerate(document.read_text().splitlines(), start=1)
        if len(line) > LONGEST_DOCUMENT_LINE
    ]
    assert long == []


def test_pages_of_packages_link_to_nothing_outside_their_package() -> None:
    """A package's registry shows them, where the repository's other files are not."""
    pages = sorted(REPOSITORY.glob("clients/*/*.md"))
    assert {page.parent.name for page in pages} == {"go", "java", "node", "python"}
    outside = [
        f"{page.relative_to(REPOSITORY)}: {target}"
        for page in pages
        for target in re.findall(r"\]\(([^)#:]+)[)#]", page.read_text())
        if not (page.parent / target).resolve().is_relative_to(page.parent)
    ]
    assert outside == []


def test_links_between_documents_lead_somewhere() -> None:
    wrong = []
    for document in documents():
        for target in re.findall(r"\]\(([^)\s]+)\)", document.read_text()):
            if re.match(r"https?:", target):
                continue
            path, _, heading = target.partition("#")
            file = document.parent / path if path else document
            if not file.exists() or (heading and heading not in headings(file)):
                wrong.append(f"{document.relative_to(REPOSITORY)} points to {target}")
    assert wrong == []


def headings(document: Path) -> set[str]:
    """The headings as links name them: in lower case, blanks as hyphens, without other signs."""
    titles = re.findall(r"^#+ (.*)$", document.read_text(), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}


def test_the_documents_name_every_option_counter_and_error() -> None:
    options = re.findall(
        r'detail::\w+\(Option::\w+, "(\w+)"', (SOURCES / "base/options.h").read_text()
    )
    of_ports = re.findall(r'detail::port_\w+\(\s*"(\w+)"', (SOURCES / "base/ports.h").read_text())
    assert {"port", "threads_wr", "plain_secret_wr"} <= set(of_ports)
    counters = re.findall(
        r'CounterInfo\{\s*Counter::\w+, "(\w+)"', (SOURCES / "base/counters.h").read_text()
    )
    errors = re.findall(
        r'ErrorInfo\{\w+::\w+, [123], "(\w+)"\}', (SOURCES / PROTOCOL / "errors.h").read_text()
    )
    assert len(options) > 20 and len(counters) > 20 and len(errors) > 20
    configuration = (REPOSITORY / "docs/configuration.md").read_text()
    protocol = (REPOSITORY / "docs/protocol.md").read_text()
    # "`handlersocket_a_b`, `_a_c`" also means handlersocket_a_c.
    shortened = {name for name in re.findall(r"`(_\w+)`", configuration)}

    def is_documented(name: str) -> bool:
        return f"`handlersocket_{name}`" in configuration or any(
            f"_{name}".endswith(short) for short in shortened
        )

    assert [name for name in [*options, *of_ports, *counters] if not is_documented(name)] == []
    assert [text for text in errors if f"`{text}`" not in protocol] == []
