"""What the tests share: servers, SQL, and bytes on the wire."""
