// The server: its private headers, and over them the layer in which its families differ.
//
// Every file of mysqld/ that needs a server type includes this one, so that the
// order of the server's own includes and the warnings that they raise are
// settled once. What is the same for every family is called as it is; what differs stands in
// server/, behind an interface of our own: each of its headers declares, and the family's half,
// in the folder that CMake has chosen, defines.
#pragma once

// In this order: the layer is written in the terms of the server's headers.
// clang-format off
#include "family_headers.h"
#include "mysqld/server/types.h"
#include "mysqld/server/fields.h"
#include "mysqld/server/text.h"
#include "mysqld/server/session.h"
#include "mysqld/server/tables.h"
#include "mysqld/server/variables.h"
// clang-format on
