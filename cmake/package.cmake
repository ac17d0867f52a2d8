# SPDX-License-Identifier: Apache-2.0
# The Debian package: cpack -G DEB --config build/release/CPackConfig.cmake
install(FILES LICENSE README.md DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(DIRECTORY docs/ DESTINATION ${CMAKE_INSTALL_DOCDIR}/docs)

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME abortscope)
set(CPACK_PACKAGE_CONTACT "abortscope maintainers <maintainers@abortscope.invalid>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "profiler for Intel RTM aborts in lock code")
set(CPACK_PACKAGE_DESCRIPTION
"Runs lock workloads under lock elision, on this computer or on a deterministic
simulated one, counts attempts, commits and aborts, sorts the aborts by cause,
and compares them across mutation levels, locks, policies and thread counts.")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES TRUE)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION devel)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
include(CPack)
