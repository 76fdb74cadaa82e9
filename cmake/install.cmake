# `cmake --install` puts the program, the library and its public headers where find_package(heed) and
# pkg-config see them.
include(CMakePackageConfigHelpers)
set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/heed)

install(TARGETS heed_program DESTINATION ${CMAKE_INSTALL_BINDIR})
install(TARGETS heed EXPORT heedTargets
        ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR}
        LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}
        FILE_SET HEADERS DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
if(BUILD_SHARED_LIBS)  # the installed program finds the library beside it
  file(RELATIVE_PATH to_libraries ${CMAKE_INSTALL_FULL_BINDIR} ${CMAKE_INSTALL_FULL_LIBDIR})
  set_target_properties(heed_program PROPERTIES INSTALL_RPATH $ORIGIN/${to_libraries})
endif()

install(EXPORT heedTargets NAMESPACE heed:: DESTINATION ${package_dir})
configure_file(cmake/heedConfig.cmake.in heedConfig.cmake @ONLY)
write_basic_package_version_file(heedConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_BINARY_DIR}/heedConfig.cmake ${CMAKE_BINARY_DIR}/heedConfigVersion.cmake
        DESTINATION ${package_dir})

# The prefix is found from the place of heed.pc itself, as --install may choose another one.
file(RELATIVE_PATH to_prefix /prefix/${CMAKE_INSTALL_LIBDIR}/pkgconfig /prefix)
configure_file(cmake/heed.pc.in heed.pc @ONLY)
install(FILES ${CMAKE_BINARY_DIR}/heed.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
