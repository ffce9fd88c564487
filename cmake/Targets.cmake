# Each folder is one target. Its unit tests and fuzzers are beside the code.

# unit_tests: all unit tests, without programs that are only installed or used for measuring.
add_custom_target(unit_tests)
# fuzzers: all fuzzers.
add_custom_target(fuzzers)

# hs_test_flags(<target>): the code of a test itself is not optimised, only what it tests. Most of the time of compiling it
# would go into that. Of the symbols for a debugger a report of a sanitizer needs the numbers of lines alone.
function(hs_test_flags target)
  target_compile_options(${target} PRIVATE -O0 -g1)
endfunction()

# hs_precompiled_headers(<library> <headers>...): a library that has nothing but these headers, precompiled. A target that
# reuses them is compiled in two thirds of the time. Its files include what they use all the same.
function(hs_precompiled_headers library)
  file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/${library}.cc CONTENT "// Has nothing but headers.\n")
  add_library(${library} OBJECT ${PROJECT_BINARY_DIR}/${library}.cc)
  target_precompile_headers(${library} PRIVATE ${ARGN})
endfunction()

# hs_no_false_warnings(<target>): for targets with precompiled headers. GCC 12 does not know any more that these headers are
# the standard library's, and warns of mistakes in them that are none. In all other targets these warnings stay errors, and
# so they do in a build without precompiled headers, as that of clang-tidy, which does not know the options.
function(hs_no_false_warnings target)
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND NOT CMAKE_DISABLE_PRECOMPILE_HEADERS)
    target_compile_options(${target} PRIVATE -Wno-array-bounds -Wno-restrict -Wno-stringop-overflow -Wno-stringop-overread)
  endif()
endfunction()

# The headers of the standard library that most files use.
set(hs_std_headers <algorithm> <array> <atomic> <charconv> <chrono> <cstring> <functional> <limits> <map> <memory> <mutex>
  <optional> <span> <string> <string_view> <thread> <utility> <vector>)

# For all tests.
if(HS_TESTS)
  hs_precompiled_headers(hs_test_headers <gtest/gtest.h> ${hs_std_headers})
  target_link_libraries(hs_test_headers PRIVATE GTest::gtest_main)
  hs_test_flags(hs_test_headers)
  # As programs are compiled.
  set_target_properties(hs_test_headers PROPERTIES POSITION_INDEPENDENT_CODE OFF)
  target_compile_options(hs_test_headers PRIVATE -fPIE)
endif()

# For all folders, in the builds that only look for bugs. The plugin that is installed is built without them.
if(HS_SANITIZE OR HS_FUZZ)
  hs_precompiled_headers(hs_code_headers ${hs_std_headers})
  hs_no_false_warnings(hs_code_headers)
endif()

# hs_vectors: tests/vectors as a header, protocol_vectors.h.
set(vectors_folder ${PROJECT_SOURCE_DIR}/tests/vectors)
set(vectors_header ${PROJECT_BINARY_DIR}/vectors/protocol_vectors.h)
if(HS_TESTS)
  find_package(Python3 REQUIRED COMPONENTS Interpreter)
  file(GLOB vectors CONFIGURE_DEPENDS ${vectors_folder}/*.json)
  file(MAKE_DIRECTORY ${PROJECT_BINARY_DIR}/vectors)
  add_custom_command(OUTPUT ${vectors_header}
    COMMAND Python3::Interpreter ${vectors_folder}/as_header.py ${vectors_header}
    DEPENDS ${vectors} ${vectors_folder}/as_header.py)
  add_custom_target(vectors_made DEPENDS ${vectors_header})
  add_library(hs_vectors INTERFACE)
  target_include_directories(hs_vectors INTERFACE ${PROJECT_BINARY_DIR}/vectors)
  add_dependencies(hs_vectors vectors_made)
endif()

# hs_library(<folder> <dependencies>...): every .cc of the folder that is no test, no fuzzer and no helper of tests. Those
# helpers are named test_*.
function(hs_library folder)
  file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/*.cc)
  list(FILTER sources EXCLUDE REGEX "(_(test|fuzz)|/test_[^/]*)\\.cc$")
  if(sources)
    add_library(hs_${folder} STATIC ${sources})
    target_include_directories(hs_${folder} PUBLIC ${PROJECT_SOURCE_DIR}/src)
    target_link_libraries(hs_${folder} PUBLIC ${ARGN})
    if(TARGET hs_code_headers)
      target_precompile_headers(hs_${folder} REUSE_FROM hs_code_headers)
      hs_no_false_warnings(hs_${folder})
    elseif(HS_LAUNCHER)
      set_target_properties(hs_${folder} PROPERTIES CXX_COMPILER_LAUNCHER "${HS_LAUNCHER}")
    endif()
  else()
    add_library(hs_${folder} INTERFACE)
    target_include_directories(hs_${folder} INTERFACE ${PROJECT_SOURCE_DIR}/src)
    target_link_libraries(hs_${folder} INTERFACE ${ARGN})
  endif()

  file(GLOB tests CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/*_test.cc ${CMAKE_CURRENT_SOURCE_DIR}/test_*.cc)
  if(HS_TESTS AND tests)
    add_executable(${folder}_test ${tests})
    hs_test_flags(${folder}_test)
    target_precompile_headers(${folder}_test REUSE_FROM hs_test_headers)
    target_link_libraries(${folder}_test PRIVATE hs_${folder} hs_vectors GTest::gtest_main Threads::Threads)
    add_test(NAME ${folder} COMMAND ${folder}_test)
    add_dependencies(unit_tests ${folder}_test)
  endif()

  file(GLOB fuzzers CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/*_fuzz.cc)
  if(HS_FUZZ)
    foreach(fuzzer ${fuzzers})
      get_filename_component(name ${fuzzer} NAME_WE)
      add_executable(${name} ${fuzzer})
      target_link_libraries(${name} PRIVATE hs_${folder})
      target_link_options(${name} PRIVATE -fsanitize=fuzzer)
      add_dependencies(fuzzers ${name})
    endforeach()
  endif()
endfunction()
