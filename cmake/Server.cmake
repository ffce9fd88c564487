# What is needed to compile against the server in HS_SERVER, a tree made by setup/server.sh.
#
# hs_server_headers         an interface target: include folders, defines and flags
# hs_server_plugin(target)  makes `target` a plugin of that server; its build fails
#                           unless the headers fit the server's binary
#
# Only src/mysqld may use either. Symbols are hidden by default there too, so the plugin's
# declaration stands between `#pragma GCC visibility push(default)` and `pop`.

set(hs_server_env ${HS_SERVER}/server.env)
if(NOT EXISTS ${hs_server_env})
  message(FATAL_ERROR "${HS_SERVER} holds no server: run setup/server.sh")
endif()
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${hs_server_env})
file(STRINGS ${hs_server_env} hs_server_lines)
foreach(line ${hs_server_lines})
  if(line MATCHES "^([a-z_]+)=(.*)$")
    set(hs_server_${CMAKE_MATCH_1} ${CMAKE_MATCH_2})
  endif()
endforeach()

add_library(hs_server_headers INTERFACE)
if(hs_server_kind STREQUAL "mariadb")
  # The order counts: the distribution's own my_config.h, mysql_version.h and mysqld_error.h
  # stand in the first folder and have to win.
  target_include_directories(hs_server_headers SYSTEM INTERFACE
    ${HS_SERVER}/root/usr/include/mariadb/server
    ${HS_SERVER}/headers/include
    ${HS_SERVER}/headers/sql
    ${HS_SERVER}/headers/wsrep-lib/include
    ${HS_SERVER}/headers/wsrep-lib/wsrep-API/v26)
  # The defines with which the distribution built its server: the layout of its classes hangs on them.
  target_compile_definitions(hs_server_headers INTERFACE
    HAVE_CONFIG_H HAVE_OPENSSL DBUG_OFF NDEBUG MYSQL_SERVER=1 MYSQL_DYNAMIC_PLUGIN=1)
elseif(hs_server_kind STREQUAL "mysql")
  # The configured headers have to win, and so has the folder `include` over its namesakes.
  target_include_directories(hs_server_headers SYSTEM INTERFACE
    ${HS_SERVER}/headers/builddir/include
    ${HS_SERVER}/headers
    ${HS_SERVER}/headers/include
    ${HS_SERVER}/headers/libs
    ${HS_SERVER}/headers/extra/unordered_dense/current/include
    ${HS_SERVER}/headers/extra/rapidjson/include)
  target_compile_definitions(hs_server_headers INTERFACE
    NDEBUG MYSQL_SERVER=1 MYSQL_DYNAMIC_PLUGIN=1)
else()
  message(FATAL_ERROR "${hs_server_env}: a server of kind '${hs_server_kind}' is not known")
endif()
# OpenSSL's headers, if the machine has none. They come after all headers of the machine.
target_compile_options(hs_server_headers INTERFACE
  -idirafter${HS_SERVER}/root/usr/include
  -idirafter${HS_SERVER}/root/usr/include/x86_64-linux-gnu)
# It is on every command line, so that everything is built again for another server: unpacked headers keep
# their old dates.
target_compile_definitions(hs_server_headers INTERFACE HS_SERVER_PACKAGE="${hs_server_package_version}")
if(HS_SANITIZE)
  # It comes with asserts, which would give the server's classes another layout. And two of its checks would find what
  # the server's headers do on purpose: they read unaligned numbers, and use classes whose RTTI is not exported.
  target_compile_options(hs_server_headers INTERFACE -DNDEBUG -fno-sanitize=alignment,vptr)
endif()
# The library through which a plugin calls the server's services.
target_link_libraries(hs_server_headers INTERFACE
  ${HS_SERVER}/root/usr/lib/x86_64-linux-gnu/libmysqlservices.a)

# Compiles only if the private headers and the server's binary agree.
add_library(hs_server_guard OBJECT ${CMAKE_CURRENT_LIST_DIR}/server_guard.cc)
set_target_properties(hs_server_guard PROPERTIES CXX_EXTENSIONS ON)
target_link_libraries(hs_server_guard PRIVATE hs_server_headers)
target_include_directories(hs_server_guard PRIVATE
  ${PROJECT_SOURCE_DIR}/src ${PROJECT_SOURCE_DIR}/src/mysqld/server/${hs_server_kind})
target_compile_definitions(hs_server_guard PRIVATE
  HS_SERVER_THD_SIZE=${hs_server_thd_size} HS_SERVER_VERSION="${hs_server_version}")

function(hs_server_plugin target)
  # The server's headers need the GNU dialect; a plugin's file has no "lib" in front.
  set_target_properties(${target} PROPERTIES CXX_EXTENSIONS ON PREFIX "")
  target_link_libraries(${target} PRIVATE hs_server_headers)
  target_sources(${target} PRIVATE ${CMAKE_CURRENT_FUNCTION_LIST_DIR}/older_libstdcxx.cc)
  add_dependencies(${target} hs_server_guard)
endfunction()
