# attn_compile_ahead(NAME FILE.mlir [OPTIONS options of attn-run...]): a library
# NAME that holds the functions of the file, compiled, and the folder of NAME.h,
# which declares them.
function(attn_compile_ahead name source)
  cmake_parse_arguments(PARSE_ARGV 2 ARG "" "" "OPTIONS")
  if(ARG_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "attn_compile_ahead(${name}): expected a file and "
      "OPTIONS, got ${ARG_UNPARSED_ARGUMENTS}")
  endif()
  set(folder ${CMAKE_CURRENT_BINARY_DIR}/${name}.ahead)
  file(MAKE_DIRECTORY ${folder})
  get_filename_component(source ${source} ABSOLUTE
    BASE_DIR ${CMAKE_CURRENT_SOURCE_DIR})
  add_custom_command(OUTPUT ${folder}/${name}.o ${folder}/${name}.h
    COMMAND attn::attn-run ${source} --emit=obj -o ${folder}/${name}.o
      ${ARG_OPTIONS}
    DEPENDS ${source} attn::attn-run VERBATIM)
  add_library(${name} STATIC ${folder}/${name}.o ${folder}/${name}.h)
  # There is nothing to compile, and the project may know C alone.
  get_property(languages GLOBAL PROPERTY ENABLED_LANGUAGES)
  if("CXX" IN_LIST languages)
    set_target_properties(${name} PROPERTIES LINKER_LANGUAGE CXX)
  else()
    set_target_properties(${name} PROPERTIES LINKER_LANGUAGE C)
  endif()
  target_include_directories(${name} INTERFACE ${folder})
  target_link_libraries(${name} INTERFACE attn::ahead)
endfunction()
