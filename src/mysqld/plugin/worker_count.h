// How many workers serve the read port, if the settings do not say.
//
// It owns nothing. Called once, when the plugin starts.
#pragma once

namespace hs::mysqld {

// If handlersocket_threads is 0, sets it to a number that suits the cores of this process. SHOW
// VARIABLES then shows that number.
void fit_threads_to_cores();

}  // namespace hs::mysqld
