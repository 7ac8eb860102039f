# Makes `tallele::parquet` (Arrow and Parquet C++) from a system package, else from the headers
# and libraries that a `pyarrow` wheel carries. Leaves no target where neither is found.
#
# TALLELE_PYTHON: the Python that has pyarrow; default: the project's .venv.

set(TALLELE_PYTHON "${PROJECT_SOURCE_DIR}/.venv/bin/python" CACHE FILEPATH
    "Python that has pyarrow (used for its Arrow headers and libraries)")

# Asks the wheel for its include folder, library folder, version and soname suffix.
function(tallele_query_arrow_wheel output)
  set(${output} "" PARENT_SCOPE)
  if(NOT EXISTS "${TALLELE_PYTHON}")
    return()
  endif()
  execute_process(
    COMMAND "${TALLELE_PYTHON}" -c "import pyarrow as p
b = p.cpp_build_info
print(';'.join([p.get_include(), p.get_library_dirs()[0], b.version, b.so_version]), end='')"
    OUTPUT_VARIABLE answer RESULT_VARIABLE status ERROR_QUIET)
  if(status EQUAL 0)
    set(${output} "${answer}" PARENT_SCOPE)
  endif()
endfunction()

function(tallele_import_wheel_library name include_dir library_dir so_version)
  set(soname "lib${name}.so.${so_version}")
  if(NOT EXISTS "${library_dir}/${soname}")
    message(FATAL_ERROR "The pyarrow wheel has no ${library_dir}/${soname}; reinstall pyarrow.")
  endif()
  add_library(tallele_wheel_${name} SHARED IMPORTED GLOBAL)
  set_target_properties(tallele_wheel_${name} PROPERTIES
    IMPORTED_LOCATION "${library_dir}/${soname}"
    IMPORTED_SONAME "${soname}"
    INTERFACE_INCLUDE_DIRECTORIES "${include_dir}"
    INTERFACE_SYSTEM_INCLUDE_DIRECTORIES "${include_dir}"
    INTERFACE_COMPILE_FEATURES cxx_std_20)
endfunction()

find_package(Arrow QUIET CONFIG)
find_package(Parquet QUIET CONFIG)
if(TARGET Arrow::arrow_shared AND TARGET Parquet::parquet_shared)
  set(tallele_arrow_libraries Parquet::parquet_shared Arrow::arrow_shared)
  set(tallele_arrow_origin "system, ${Arrow_VERSION}")
else()
  tallele_query_arrow_wheel(wheel)
  if(NOT wheel)
    message(STATUS "Arrow: not found (no CMake package, no pyarrow in ${TALLELE_PYTHON})")
    return()
  endif()
  list(GET wheel 0 wheel_include)
  list(GET wheel 1 wheel_libraries)
  list(GET wheel 2 wheel_version)
  list(GET wheel 3 wheel_so_version)
  tallele_import_wheel_library(arrow ${wheel_include} ${wheel_libraries} ${wheel_so_version})
  tallele_import_wheel_library(parquet ${wheel_include} ${wheel_libraries} ${wheel_so_version})
  set(tallele_arrow_libraries tallele_wheel_parquet tallele_wheel_arrow)
  set(tallele_arrow_origin "pyarrow wheel, ${wheel_version}")
endif()
message(STATUS "Arrow: ${tallele_arrow_origin}")

add_library(tallele_parquet INTERFACE)
add_library(tallele::parquet ALIAS tallele_parquet)
target_link_libraries(tallele_parquet INTERFACE ${tallele_arrow_libraries})
# The wheel's libparquet exports a whole OpenSSL. The system's must come first on the link line,
# so that our own calls bind to it.
target_link_options(tallele_parquet INTERFACE
  "LINKER:--push-state,--no-as-needed" "${OPENSSL_CRYPTO_LIBRARY}" "LINKER:--pop-state")
