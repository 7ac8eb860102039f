# Every third-party library of the project. `tools/setup.sh` installs them on Debian 12.
#
# Names to link: fmt::fmt TBB::tbb Eigen3::Eigen OpenSSL::Crypto ZLIB::ZLIB
# nlohmann_json::nlohmann_json CLI11::CLI11 tomlplusplus::tomlplusplus,
# and our own names where a library has no CMake package: tallele::libdeflate tallele::zstd
# tallele::sqlite3 tallele::xxhash tallele::hdf5 tallele::libzip tallele::yaml_cpp
# tallele::libcurl tallele::parquet.

set(THREADS_PREFER_PTHREAD_FLAG ON)
find_package(Threads REQUIRED)
find_package(PkgConfig REQUIRED)
find_package(fmt REQUIRED CONFIG)
find_package(TBB REQUIRED CONFIG)
find_package(Eigen3 REQUIRED NO_MODULE)
find_package(OpenSSL REQUIRED COMPONENTS Crypto)
find_package(ZLIB REQUIRED)
find_package(nlohmann_json REQUIRED CONFIG)
find_package(CLI11 QUIET CONFIG)
find_package(tomlplusplus QUIET CONFIG)
if(BUILD_TESTING)
  find_package(GTest REQUIRED CONFIG)
endif()
if(TALLELE_BENCH)
  find_package(benchmark REQUIRED CONFIG)
endif()

# Makes tallele::<name> from a pkg-config module.
function(tallele_pkg_config_target name module)
  string(TOUPPER "TALLELE_PC_${name}" prefix)
  pkg_check_modules(${prefix} REQUIRED IMPORTED_TARGET GLOBAL ${module})
  add_library(tallele::${name} ALIAS PkgConfig::${prefix})
endfunction()

tallele_pkg_config_target(libdeflate libdeflate)
tallele_pkg_config_target(zstd libzstd)
tallele_pkg_config_target(sqlite3 sqlite3)
tallele_pkg_config_target(xxhash libxxhash)
tallele_pkg_config_target(libcurl libcurl)
tallele_pkg_config_target(hdf5 hdf5)
tallele_pkg_config_target(libzip libzip)
tallele_pkg_config_target(yaml_cpp yaml-cpp)

include(FindArrowWheel)
