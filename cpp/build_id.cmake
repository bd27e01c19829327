# Writes the header that carries the version and the digest of the C++ sources. Run at every build (see CMakeLists.txt):
# a digest taken only at configure time would go stale with the first edit. `c2s/kernels/_load.py` takes the same digest at
# import and compares.
#   cmake -DSOURCE=<checkout> -DOUTPUT=<header> -P cpp/build_id.cmake
file(GLOB_RECURSE files RELATIVE "${SOURCE}"
  "${SOURCE}/cpp/include/*.hpp" "${SOURCE}/cpp/src/*.cpp" "${SOURCE}/cpp/bindings/*.hpp" "${SOURCE}/cpp/bindings/*.cpp")
list(APPEND files CMakeLists.txt)
list(SORT files)
set(lines "")
foreach(name IN LISTS files)
  file(SHA256 "${SOURCE}/${name}" hash)
  string(APPEND lines "${hash} ${name}\n")
endforeach()
string(SHA256 build_id "${lines}")

file(STRINGS "${SOURCE}/c2s/__init__.py" line REGEX "^__version__ = ")
if(NOT line MATCHES "\"([^\"]+)\"")
  message(FATAL_ERROR "c2s/__init__.py has no line __version__ = \"...\"")
endif()

file(WRITE "${OUTPUT}.new"
  "// Written by cpp/build_id.cmake.\n#define C2S_VERSION \"${CMAKE_MATCH_1}\"\n#define C2S_BUILD_ID \"${build_id}\"\n")
file(COPY_FILE "${OUTPUT}.new" "${OUTPUT}" ONLY_IF_DIFFERENT)
