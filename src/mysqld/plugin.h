// The plugin's life: two network servers between start and stop.
//
// Called by one of the server's own threads at a time, from the family's declaration
// of the plugin.
#pragma once

namespace hs::mysqld {

// False if the settings cannot be meant; what went wrong is in the server's log.
bool start_plugin();
void stop_plugin();

}  // namespace hs::mysqld
