// The plugin's life: two network servers between start and stop, if they are switched on.
//
// The server's own threads call it, from the family's declaration of the plugin and from SET GLOBAL.
#pragma once

namespace hs::mysqld {

// False if the settings make no sense, or if a client that executes INSTALL PLUGIN asks for a port
// that cannot be listened on. The reason is in the server's log. A server that starts is served on
// the ports that can be listened on.
bool start_plugin();
void stop_plugin();

// For SET GLOBAL. Each may be called by any thread, also while the plugin starts or stops.
//
// Opens the ports, or closes them with all their connections. Requests that are being executed are
// answered before that, unless they take long. If a port cannot be listened on, its client and the
// log are told why, and the ports stay closed.
void switch_ports(bool on);
// Whether the ports are open, or will be when the plugin starts.
bool are_ports_on();
// Sets a number that system_variables() shows. If the ports are open, fits the numbers to the
// machine and hands them on to the ports.
void change_setting(bool& setting, bool value);
void change_setting(unsigned long long& number, unsigned long long value);
// The name of an account has changed.
void change_accounts();

}  // namespace hs::mysqld
