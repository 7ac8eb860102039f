# Compiler settings for every target of the project.

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
# The Arrow of the pyarrow wheel lies outside the loader's path.
set(CMAKE_INSTALL_RPATH_USE_LINK_PATH ON)

if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE RelWithDebInfo CACHE STRING "Build type" FORCE)
endif()
set(CMAKE_CXX_FLAGS_RELWITHDEBINFO "-O2 -g1 -DNDEBUG")

if(NOT CMAKE_CXX_COMPILER_LAUNCHER)
  find_program(TALLELE_CCACHE ccache)
  if(TALLELE_CCACHE)
    set(CMAKE_CXX_COMPILER_LAUNCHER "${TALLELE_CCACHE}")
  endif()
endif()

add_compile_options(-Wall -Wextra)
# Results are the same bits for every compiler flag set: no fused multiply-add behind our back.
add_compile_options(-ffp-contract=off)

find_program(TALLELE_MOLD mold)
if(TALLELE_MOLD)
  add_link_options(-fuse-ld=mold)
endif()

if(TALLELE_SANITIZE OR TALLELE_FUZZ)
  set(CMAKE_CXX_FLAGS_RELWITHDEBINFO "-O1 -g1")
  set(sanitizer_flags -fsanitize=address,undefined -fno-sanitize-recover=all
                      -fno-omit-frame-pointer)
  add_compile_options(${sanitizer_flags})
  add_link_options(${sanitizer_flags})
endif()
if(TALLELE_FUZZ)
  if(NOT CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
    message(FATAL_ERROR "TALLELE_FUZZ needs clang: pass -DCMAKE_CXX_COMPILER=clang++-19")
  endif()
  add_compile_options(-fsanitize=fuzzer-no-link)
endif()
