# tallele_library(<name> SOURCES a.cc ... [DEPS target ...])
#   Static library `tallele_<name>`; includes are written from src/.
# tallele_test(<name> SOURCES x_test.cc ... [DEPS target ...] [AS_ONE])
#   GoogleTest program; each of its cases is a ctest entry with the layer as label.
#   AS_ONE registers the whole program as one entry: for suites that share a costly set-up.
# tallele_fuzzer(<name> SOURCES x_fuzz.cc ... [DEPS target ...])
#   libFuzzer program; nothing unless TALLELE_FUZZ is on.

function(tallele_library name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "SOURCES;DEPS")
  if(NOT arg_SOURCES)
    add_library(tallele_${name} INTERFACE)
    target_include_directories(tallele_${name} INTERFACE "${PROJECT_SOURCE_DIR}/src")
    target_link_libraries(tallele_${name} INTERFACE ${arg_DEPS})
    return()
  endif()
  add_library(tallele_${name} STATIC ${arg_SOURCES})
  target_include_directories(tallele_${name} PUBLIC "${PROJECT_SOURCE_DIR}/src")
  target_link_libraries(tallele_${name} PUBLIC ${arg_DEPS})
endfunction()

# The first folder below src/, or the first below the root (tests, fuzz).
function(tallele_layer_of_current_folder output)
  file(RELATIVE_PATH path "${PROJECT_SOURCE_DIR}" "${CMAKE_CURRENT_SOURCE_DIR}")
  string(REGEX REPLACE "^src/" "" path "${path}")
  string(REGEX REPLACE "/.*$" "" path "${path}")
  set(${output} "${path}" PARENT_SCOPE)
endfunction()

function(tallele_test name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "AS_ONE" "" "SOURCES;DEPS")
  if(NOT BUILD_TESTING OR TALLELE_FUZZ)
    return()
  endif()
  add_executable(${name} ${arg_SOURCES})
  # tests/support is included as "tests/support/x.h", so the root is on the path as well.
  target_include_directories(${name} PRIVATE "${PROJECT_SOURCE_DIR}" "${PROJECT_SOURCE_DIR}/src")
  target_compile_definitions(${name} PRIVATE TALLELE_SOURCE_DIR="${PROJECT_SOURCE_DIR}")
  target_link_libraries(${name} PRIVATE ${arg_DEPS} tallele_test_support
                        GTest::gmock GTest::gtest_main)
  tallele_layer_of_current_folder(layer)
  if(arg_AS_ONE)
    add_test(NAME ${name} COMMAND ${name})
    set_tests_properties(${name} PROPERTIES LABELS ${layer})
  else()
    gtest_discover_tests(${name} TEST_PREFIX "${name}." DISCOVERY_MODE PRE_TEST
                         DISCOVERY_TIMEOUT 60 PROPERTIES LABELS ${layer})
  endif()
endfunction()

function(tallele_fuzzer name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "SOURCES;DEPS")
  if(NOT TALLELE_FUZZ)
    return()
  endif()
  add_executable(${name} ${arg_SOURCES})
  target_include_directories(${name} PRIVATE "${PROJECT_SOURCE_DIR}" "${PROJECT_SOURCE_DIR}/src")
  target_link_libraries(${name} PRIVATE ${arg_DEPS})
  target_link_options(${name} PRIVATE -fsanitize=fuzzer)
  set_property(GLOBAL APPEND PROPERTY TALLELE_FUZZERS ${name})
endfunction()

include(GoogleTest)
