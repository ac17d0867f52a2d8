# SPDX-License-Identifier: Apache-2.0
# What a program links: libabortscope.a, its headers, find_package(abortscope) and pkg-config.
#
# The archive holds the objects of the folders' libraries that abortscope.hpp needs, and no more:
# neither the simulated machine nor its Boost.Context. Installed headers keep the form of their
# includes ("primitives/machine.hpp"), with include/abortscope as the include directory.
include(CMakePackageConfigHelpers)

add_library(abortscope_library STATIC)
target_sources(abortscope_library PRIVATE
  $<FILTER:$<TARGET_OBJECTS:abortscope_machines>,INCLUDE,/native/>
  "$<FILTER:$<TARGET_OBJECTS:abortscope_profiler>,INCLUDE,/(counters|host)/|/(region|row|columns)[.]cpp>"
  "$<FILTER:$<TARGET_OBJECTS:abortscope_reports>,INCLUDE,/(csv|output|region_csv|wrapped)[.]cpp>")
set_target_properties(abortscope_library PROPERTIES
  LINKER_LANGUAGE CXX OUTPUT_NAME abortscope EXPORT_NAME abortscope)
target_compile_features(abortscope_library PUBLIC cxx_std_20)
target_include_directories(abortscope_library INTERFACE
  $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}/abortscope>)
target_link_libraries(abortscope_library PRIVATE
  fmt::fmt Threads::Threads $<INSTALL_INTERFACE:pfm>)

install(TARGETS abortscope_library EXPORT abortscope-targets
  ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(EXPORT abortscope-targets NAMESPACE abortscope::
  DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/abortscope)

set(headers ${CMAKE_INSTALL_INCLUDEDIR}/abortscope)
install(FILES abortscope.hpp DESTINATION ${headers})
install(DIRECTORY primitives DESTINATION ${headers} FILES_MATCHING PATTERN "*.hpp")
install(DIRECTORY machines/native DESTINATION ${headers}/machines
  FILES_MATCHING PATTERN "*.hpp" PATTERN "rtm_pretence.hpp" EXCLUDE)
install(FILES profiler/errors.hpp profiler/region.hpp profiler/row.hpp
  DESTINATION ${headers}/profiler)
install(FILES profiler/counters/counter.hpp DESTINATION ${headers}/profiler/counters)
install(FILES reports/region_csv.hpp DESTINATION ${headers}/reports)

configure_package_config_file(cmake/abortscope-config.cmake.in abortscope-config.cmake
  INSTALL_DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/abortscope)
write_basic_package_version_file(abortscope-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES
  ${CMAKE_CURRENT_BINARY_DIR}/abortscope-config.cmake
  ${CMAKE_CURRENT_BINARY_DIR}/abortscope-config-version.cmake
  DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/abortscope)

# Written while installing, since only then is the prefix known (cmake --install --prefix).
install(CODE "
  set(CMAKE_INSTALL_LIBDIR \"${CMAKE_INSTALL_LIBDIR}\")
  set(CMAKE_INSTALL_INCLUDEDIR \"${CMAKE_INSTALL_INCLUDEDIR}\")
  set(PROJECT_DESCRIPTION \"${PROJECT_DESCRIPTION}\")
  set(PROJECT_VERSION \"${PROJECT_VERSION}\")
  get_filename_component(CMAKE_INSTALL_PREFIX \"\${CMAKE_INSTALL_PREFIX}\" ABSOLUTE)
  configure_file(\"${PROJECT_SOURCE_DIR}/cmake/abortscope.pc.in\"
    \"${CMAKE_CURRENT_BINARY_DIR}/abortscope.pc\" @ONLY)")
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/abortscope.pc
  DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
