"""What errors tell: where, which file, and why a password could not be had."""

import pytest
from faces import Face
from played_server import PlayedServer

from handlersocket2 import AsyncClient, Client, ConnectError, SchemaError
from handlersocket2.error_table import MEANINGS

KINDS = pytest.mark.parametrize("kind", [Client, AsyncClient])


@pytest.fixture
def server():
    with PlayedServer() as played:
        played.refused = ("nowhere",)
        played.lacking = ("nmae",)
        yield played


def refused(face, call):
    with pytest.raises(SchemaError) as error:
        face(call)
    return str(error.value)


@KINDS
def test_an_error_names_the_table_and_the_index(server, kind):
    face = Face(kind, [(server.address, server.address)])
    nowhere = face.client.index("app", "nowhere", ["a"], index="by_name")
    wrong = face.client.index("app", "t", ["id", "nmae"], filter_columns=["age"])
    table = f"1 open_table: {MEANINGS['open_table'].words}: app.nowhere, index by_name"
    column = f"2 fld: {MEANINGS['fld'].words}: app.t, index PRIMARY, columns id, nmae, age"
    assert refused(face, lambda: nowhere.find(1)) == table
    assert refused(face, lambda: nowhere.update(1, ["x"])) == table
    assert refused(face, lambda: wrong.find_one(1)) == column
    pipeline = face.client.pipeline()
    pending = [pipeline.on(index).find(1) for index in (nowhere, wrong)]
    face(pipeline.run)
    assert [str(each.error()) for each in pending] == [table, column]
    face.close()


def test_an_iteration_names_them_too(server):
    with Client([(server.address, None)]) as client:
        nowhere = client.index("app", "nowhere", ["a"])
        with pytest.raises(SchemaError, match=r": app\.nowhere, index PRIMARY$"):
            list(nowhere.iterate(1))


@KINDS
@pytest.mark.parametrize("option", ["tls_ca", "tls_cert", "tls_key"])
def test_a_file_that_cannot_be_used_is_named(tmp_path, kind, option):
    empty = tmp_path / "empty.pem"
    empty.write_text("nothing of the kind\n")
    for path in (tmp_path / "missing.pem", empty, tmp_path):
        others = {"tls_cert": str(empty)} if option == "tls_key" else {}
        with pytest.raises(ValueError, match=f"{option} {path}: "):
            kind(("127.0.0.1", 1), tls=True, **{**others, option: str(path)})


@KINDS
def test_why_there_is_no_password_is_the_cause(server, kind):
    class Vault(Exception):
        pass

    def ask():
        raise Vault("sealed")

    face = Face(kind, [(server.address, None)], user="u", password=ask)
    index = face.client.index("app", "t", ["a"])
    with pytest.raises(ConnectError, match="the password could not be had: Vault") as error:
        face(lambda: index.find(1))
    assert isinstance(error.value.__cause__, Vault)
    assert "sealed" not in str(error.value)
    face.close()
