// The plugin's life: two network servers between start and stop.
//
// One of the server's own threads at a time calls it, from the family's declaration of the plugin.
#pragma once

namespace hs::mysqld {

// False if the settings make no sense, or if a client that executes INSTALL PLUGIN asks for a port
// that cannot be listened on. The reason is in the server's log. A server that starts is served on
// the ports that can be listened on.
bool start_plugin();
void stop_plugin();

// Any thread, also while the plugin starts or stops: sets a number that system_variables() shows.
// If the plugin runs, fits the numbers to the machine and hands them on to the ports.
void change_setting(unsigned long long& number, unsigned long long value);

}  // namespace hs::mysqld
