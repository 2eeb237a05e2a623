# Flags and helpers shared by every target of attn.

add_library(attn_flags INTERFACE)
target_include_directories(attn_flags INTERFACE
  ${PROJECT_SOURCE_DIR} ${PROJECT_BINARY_DIR})
target_compile_options(attn_flags INTERFACE
  -Wall -Wextra -Werror -Wno-unused-parameter -fvisibility-inlines-hidden)
if(ATTN_SANITIZE)
  # libMLIR is not instrumented, so container-overflow, vptr and function
  # checks would report its objects, not ours.
  target_compile_options(attn_flags INTERFACE
    -fsanitize=address,undefined -fno-sanitize=vptr,function
    -fno-sanitize-recover=all -fno-omit-frame-pointer)
  target_link_options(attn_flags INTERFACE -fsanitize=address,undefined)
  # What libFuzzer steers by. Not -fsanitize=fuzzer-no-link, whose stack depth
  # is a variable that no program hands to the compiler's library.
  target_compile_options(attn_flags INTERFACE
    -fsanitize-coverage=inline-8bit-counters,pc-table,trace-cmp)
endif()

# LLVM and MLIR headers, as system headers: their warnings are not ours. Where
# attn is installed, its package adds those that are found there.
add_library(attn_mlir INTERFACE)
target_include_directories(attn_mlir SYSTEM INTERFACE
  "$<BUILD_INTERFACE:${LLVM_INCLUDE_DIRS};${MLIR_INCLUDE_DIRS}>")
target_link_libraries(attn_mlir INTERFACE MLIR LLVM)

# attn_add_library(NAME sources... [LINK libraries...])
function(attn_add_library name)
  cmake_parse_arguments(ARG "" "" "LINK" ${ARGN})
  add_library(${name} STATIC ${ARG_UNPARSED_ARGUMENTS})
  target_link_libraries(${name} PUBLIC
    $<BUILD_INTERFACE:attn_flags> ${ARG_LINK})
endfunction()

# attn_set_sanitizer_options(PROGRAM): every program calls this.
function(attn_set_sanitizer_options name)
  if(ATTN_SANITIZE)
    target_sources(${name}
      PRIVATE ${PROJECT_SOURCE_DIR}/cmake/SanitizerOptions.cpp)
  endif()
endfunction()

# attn_add_tool(NAME sources... [LINK libraries...])
function(attn_add_tool name)
  cmake_parse_arguments(ARG "" "" "LINK" ${ARGN})
  add_executable(${name} ${ARG_UNPARSED_ARGUMENTS})
  target_link_libraries(${name} PRIVATE attn_flags ${ARG_LINK})
  attn_set_sanitizer_options(${name})
endfunction()
