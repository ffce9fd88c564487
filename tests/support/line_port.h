// The port of the tests' line protocol, as an entry of the table in base/ports.h.
//
// base/ports.h includes this file in its namespace, in the build of the plugin that
// tests/e2e/requests/test_second_protocol.py loads. Nothing else of that plugin names the port.
#pragma once

extern const PortProtocol line_protocol;

inline constexpr std::array ports_of_tests{
    PortInfo{
        .name = "line",
        .protocol = &line_protocol,
        .writes = true,
        .workers = "read",
        .writers = "write",
        .options = {detail::port_text("line_port", "TCP port of the line protocol; empty: none"),
                    detail::port_text("line_socket",
                                      "Path of a Unix socket of the line protocol; empty: none"),
                    detail::no_option, detail::no_option},
    },
};
