# What `cmake --install` puts where, and the package that find_package(attn)
# reads. A part of attn is a component of the package:
#
#   runtime   attn::runtime, the engine for host programs; needs no LLVM
#   mlir      attn::dialect and attn::passes, for compilers; needs MLIR
#   ahead     attn_compile_ahead() and attn::ahead, for programs with compiled
#             attention in them; needs libomp
#
# attn.pc and attn-ahead.pc are runtime and ahead for pkg-config.

include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

set(ATTN_PACKAGE_DIR ${CMAKE_INSTALL_LIBDIR}/cmake/attn)
# Libraries of LLVM are found where they were when attn was built.
set(CMAKE_INSTALL_RPATH_USE_LINK_PATH ON)

# Headers as programs outside of the tree include them, "attn/runtime/Engine.h";
# within the tree the same file is "runtime/Engine.h".
set(ATTN_PUBLIC_INCLUDE_DIR ${PROJECT_BINARY_DIR}/include)

# attn_public_headers(TARGET files...): makes the public form of headers and
# TableGen files of the current folder, or of its build folder if they are
# generated, and installs it. Programs of the tree depend on TARGET.
function(attn_public_headers target)
  file(RELATIVE_PATH folder ${PROJECT_SOURCE_DIR} ${CMAKE_CURRENT_SOURCE_DIR})
  set(outputs)
  foreach(file ${ARGN})
    set(from ${CMAKE_CURRENT_SOURCE_DIR}/${file})
    if(NOT EXISTS ${from})
      set(from ${CMAKE_CURRENT_BINARY_DIR}/${file})
    endif()
    set(to ${ATTN_PUBLIC_INCLUDE_DIR}/attn/${folder}/${file})
    set(script ${PROJECT_SOURCE_DIR}/cmake/PublicHeader.cmake)
    add_custom_command(OUTPUT ${to}
      COMMAND ${CMAKE_COMMAND} -D FROM=${from} -D TO=${to} -P ${script}
      DEPENDS ${from} ${script} VERBATIM)
    list(APPEND outputs ${to})
    get_filename_component(subfolder attn/${folder}/${file} DIRECTORY)
    install(FILES ${to}
      DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/${subfolder})
  endforeach()
  add_custom_target(${target} ALL DEPENDS ${outputs})
endfunction()

# attn_install_libraries(COMPONENT libraries...): each as attn::NAME without the
# attn_ of its target.
function(attn_install_libraries component)
  foreach(library ${ARGN})
    string(REPLACE "attn_" "" name ${library})
    string(REPLACE "_" "-" output ${library})
    get_target_property(type ${library} TYPE)
    set_target_properties(${library} PROPERTIES EXPORT_NAME ${name})
    if(NOT type STREQUAL INTERFACE_LIBRARY)
      set_target_properties(${library} PROPERTIES OUTPUT_NAME ${output})
    endif()
    target_include_directories(${library} INTERFACE
      $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
  endforeach()
  install(TARGETS ${ARGN} EXPORT attn-${component}
    LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}
    ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
endfunction()

# attn_install_programs(programs...): they find libraries beside them, wherever
# both are moved to.
function(attn_install_programs)
  file(RELATIVE_PATH to_libraries
    /${CMAKE_INSTALL_BINDIR} /${CMAKE_INSTALL_LIBDIR})
  set_target_properties(${ARGN} PROPERTIES
    INSTALL_RPATH "$ORIGIN/${to_libraries}")
  install(TARGETS ${ARGN} EXPORT attn-ahead
    RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
endfunction()

# attn_install_package(): the files that find_package(attn) reads. Once, after
# everything that is installed.
function(attn_install_package)
  foreach(component runtime mlir ahead)
    install(EXPORT attn-${component} NAMESPACE attn::
      FILE attn-${component}.cmake DESTINATION ${ATTN_PACKAGE_DIR})
  endforeach()
  set(ATTN_INCLUDE_DIR ${CMAKE_INSTALL_INCLUDEDIR})
  string(TOUPPER "${CMAKE_BUILD_TYPE}" ATTN_CONFIGURATION)
  if(NOT ATTN_CONFIGURATION)
    set(ATTN_CONFIGURATION NOCONFIG)
  endif()
  configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/attnConfig.cmake.in
    ${PROJECT_BINARY_DIR}/attnConfig.cmake
    INSTALL_DESTINATION ${ATTN_PACKAGE_DIR} PATH_VARS ATTN_INCLUDE_DIR
    NO_SET_AND_CHECK_MACRO)
  # Before 1.0 every minor version may change what programs see.
  write_basic_package_version_file(${PROJECT_BINARY_DIR}/attnConfigVersion.cmake
    COMPATIBILITY SameMinorVersion)
  install(FILES ${PROJECT_BINARY_DIR}/attnConfig.cmake
    ${PROJECT_BINARY_DIR}/attnConfigVersion.cmake
    ${PROJECT_SOURCE_DIR}/cmake/attnAhead.cmake
    DESTINATION ${ATTN_PACKAGE_DIR})
  # The same without CMake. The folder may be moved as a whole.
  set(folder ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
  file(RELATIVE_PATH ATTN_PREFIX_FROM_PKGCONFIG /${folder} /)
  set(ATTN_LIBOMP_FOR_PROGRAMS -lomp)
  if(ATTN_LIBOMP_PATH)
    set(ATTN_LIBOMP_FOR_PROGRAMS ${ATTN_LIBOMP_PATH})
  endif()
  foreach(name attn attn-ahead)
    configure_file(${PROJECT_SOURCE_DIR}/cmake/${name}.pc.in
      ${PROJECT_BINARY_DIR}/${name}.pc @ONLY)
    install(FILES ${PROJECT_BINARY_DIR}/${name}.pc DESTINATION ${folder})
  endforeach()
  install(FILES ${PROJECT_SOURCE_DIR}/LICENSE ${PROJECT_SOURCE_DIR}/SECURITY.md
    DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/attn)
endfunction()
