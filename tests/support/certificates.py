"""Certificates for servers that tests start, made by openssl."""

from __future__ import annotations

import ssl
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pytest  # the soak has certificates, too, without it


LOOPBACK = "IP:127.0.0.1,DNS:localhost"


def make_certificate(folder: Path, name: str, host: str = LOOPBACK) -> None:
    """A certificate for a host, which is its own authority, and its key in NAME-key.pem."""
    certificate, key = folder / f"{name}.pem", folder / f"{name}-key.pem"
    command = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2"]
    command += ["-subj", f"/CN={name}", "-addext", f"subjectAltName={host}"]
    command += ["-keyout", str(key), "-out", str(certificate)]
    subprocess.run(command, check=True, capture_output=True)
    key.chmod(0o644)


def make_certificates(factory: pytest.TempPathFactory, *names: str) -> Path:
    """A folder of them, which a server that runs as another user can read."""
    folder = factory.mktemp("certificates")
    folder.chmod(0o755)
    for name in names:
        make_certificate(folder, name)
    return folder


def context_for(
    folder: Path, version: ssl.TLSVersion = ssl.TLSVersion.TLSv1_3, trusted: str = "server"
) -> ssl.SSLContext:
    """Of a client that verifies the host and the authority."""
    context = ssl.create_default_context(cafile=str(folder / f"{trusted}.pem"))
    context.minimum_version = context.maximum_version = version
    return context
