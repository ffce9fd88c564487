// The shape in which the server reads a plugin's status variables.
//
// Included by server_api.h alone.
#pragma once

#include <cstdint>

namespace hs::mysqld::server {

// template <auto value> StatusVariable make_status_variable(const char* name): one whose
// number value() gives when it is asked for. The name is kept as a pointer.
//
// StatusVariable end_of_status_variables(): what a list of them ends with.

}  // namespace hs::mysqld::server

#include "family_variables.h"
