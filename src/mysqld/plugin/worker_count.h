// How many workers serve a port, if the settings do not say.
//
// It owns nothing. Called once, when the plugin starts.
#pragma once

namespace hs::mysqld {

// If a port's number of threads is 0, sets it to one that suits the cores of this process. SHOW
// VARIABLES then shows that number.
void fit_threads_to_cores();

}  // namespace hs::mysqld
