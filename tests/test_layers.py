"""The boundaries that ARCHITECTURE.md draws: which folder of src/ may include which."""

import re
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parent.parent
SOURCES = REPOSITORY / "src"

# Each folder and those that it may include besides itself.
ALLOWED = {
    "base": set(),
    "protocol": {"base"},
    "store": {"base", "protocol"},
    "net": {"base"},
    "session": {"base", "protocol", "store", "net"},
    "standalone": {"base", "protocol", "store", "session", "net"},
    "mysqld": {"base", "protocol", "store", "session", "net"},
}
# Of net/, the layers above it see its contracts only.
CONTRACTS = {"net/application.h", "net/server.h"}
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]', re.MULTILINE)


def includes(file: Path) -> list[tuple[str, str]]:
    return INCLUDE.findall(file.read_text())


def is_of_a_family(file: Path, name: str) -> bool:
    """A header of the server family that CMake has chosen, named without its folder."""
    return (
        file.is_relative_to(SOURCES / "mysqld") and re.fullmatch(r"family_\w+\.h", name) is not None
    )


def files(folder: str) -> list[Path]:
    return sorted([*(SOURCES / folder).rglob("*.h"), *(SOURCES / folder).rglob("*.cc")])


def test_every_folder_is_named_here_and_in_the_architecture() -> None:
    folders = {path.name for path in SOURCES.iterdir() if path.is_dir()}
    assert folders == set(ALLOWED)
    page = (REPOSITORY / "ARCHITECTURE.md").read_text()
    assert [folder for folder in folders if f"{folder}/ " not in page] == []


def test_no_folder_includes_one_above_it() -> None:
    wrong = []
    for folder, allowed in ALLOWED.items():
        for file in files(folder):
            for quote, name in includes(file):
                target = name.split("/")[0]
                if quote != '"' or target == folder or is_of_a_family(file, name):
                    continue
                if target not in allowed:
                    wrong.append(f"{file.relative_to(SOURCES)} includes {name}")
    assert wrong == []


def test_other_layers_see_only_the_contracts_of_net() -> None:
    wrong = [
        f"{file.relative_to(SOURCES)} includes {name}"
        for folder in ALLOWED
        if folder != "net"
        for file in files(folder)
        for quote, name in includes(file)
        if quote == '"' and name.startswith("net/") and name not in CONTRACTS
    ]
    assert wrong == []


def test_only_mysqld_includes_the_servers_headers() -> None:
    """And of mysqld/ one file a family, and what its declaration of the plugin logs with."""
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
        "mysqld/server/mysql/plugin_declaration.cc",
    }


def test_the_families_have_the_same_files_and_versions_are_asked_for_nowhere_else() -> None:
    layer = SOURCES / "mysqld/server"
    families = {
        folder.name: {file.name for file in folder.iterdir()}
        for folder in layer.iterdir()
        if folder.is_dir()
    }
    assert set(families) == {"mariadb", "mysql"}
    assert families["mariadb"] == families["mysql"]
    conditions = re.compile(r"^\s*#\s*(if|ifdef|ifndef|elif)\b", re.MULTILINE)
    asking = [
        str(file.relative_to(SOURCES))
        for file in files("mysqld")
        if conditions.search(file.read_text()) and file.parent.parent != layer
    ]
    assert asking == []


def test_every_header_says_what_it_is() -> None:
    """Each header opens with a comment, and is included once."""
    wrong = []
    for folder in ALLOWED:
        for file in files(folder):
            if file.suffix != ".h":
                continue
            text = file.read_text()
            if not text.startswith("// ") or "#pragma once" not in text:
                wrong.append(str(file.relative_to(SOURCES)))
    assert wrong == []


def test_files_stay_short() -> None:
    long = {
        str(file.relative_to(SOURCES)): lines
        for folder in ALLOWED
        for file in files(folder)
        if (lines := len(file.read_text().splitlines())) > 500
    }
    assert long == {}


def test_the_documents_name_every_option_counter_and_error() -> None:
    options = re.findall(
        r'detail::\w+\(Option::\w+, "(\w+)"', (SOURCES / "base/options.h").read_text()
    )
    counters = re.findall(
        r'CounterInfo\{Counter::\w+, "(\w+)"', (SOURCES / "base/counters.h").read_text()
    )
    errors = re.findall(
        r'ErrorInfo\{Error::\w+, [123], "(\w+)"\}', (SOURCES / "base/status.h").read_text()
    )
    assert len(options) > 20 and len(counters) > 20 and len(errors) > 20
    configuration = (REPOSITORY / "docs/configuration.md").read_text()
    protocol = (REPOSITORY / "docs/protocol.md").read_text()
    # "`handlersocket_a_b`, `_a_c`" stands for handlersocket_a_c, too.
    shortened = {name for name in re.findall(r"`(_\w+)`", configuration)}

    def is_documented(name: str) -> bool:
        return f"`handlersocket_{name}`" in configuration or any(
            f"_{name}".endswith(short) for short in shortened
        )

    assert [name for name in [*options, *counters] if not is_documented(name)] == []
    assert [text for text in errors if f"`{text}`" not in protocol] == []
