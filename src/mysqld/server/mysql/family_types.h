// MySQL's names for the types of server/types.h.
#pragma once

class KEY_PART_INFO;
class Table_ref;
struct SHOW_VAR;
struct SYS_VAR;

namespace hs::mysqld::server {

using TableRequest = Table_ref;
using KeyPart = KEY_PART_INFO;
using StatusVariable = SHOW_VAR;
using SystemVariable = SYS_VAR;

}  // namespace hs::mysqld::server
