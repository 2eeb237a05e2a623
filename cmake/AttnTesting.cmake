# How a test enters ctest: everything that ctest counts is added by one of the
# functions here.

find_package(GTest REQUIRED)
include(GoogleTest)
find_package(Python3 REQUIRED COMPONENTS Interpreter)

# Debian puts lit beside FileCheck; other packages of LLVM put it below the
# build folder that their CMake files name.
find_program(ATTN_LIT NAMES llvm-lit lit lit.py
  HINTS ${LLVM_TOOLS_BINARY_DIR}
        ${LLVM_TOOLS_BINARY_DIR}/../utils/lit
        ${LLVM_TOOLS_BINARY_DIR}/../build/utils/lit
  REQUIRED)

# For tests that run programs: they compile what they test, and leave the disk
# cache of who runs them alone, and memory that they allocate or free is filled
# with bytes (glibc: of a number, or of its complement). GoogleTest programs see
# to both themselves, cmake/TestEnvironment.cpp.
set(ATTN_TEST_ENVIRONMENT "ATTN_CACHE_DIR=;MALLOC_PERTURB_=165")

# What a sanitizer build pays for in continuous integration, ./dev sanitize: what
# parses and checks input, the passes, and the calls of the runtime. Compiled
# kernels are not instrumented, so that most numeric programs would find nothing.
set(ATTN_SANITIZED
  lit.dialect lit.lib lit.passes lit.pipelines
  mask-analysis-test region-differential-test
  runtime-core-test runtime-compile-test runtime-engine-test
  convention-test stride-test
  libfuzzer.ir libfuzzer.npy libfuzzer.spec libfuzzer.options
  libfuzzer.pipeline libfuzzer.onnx)
if(NOT TARGET sanitized)
  add_custom_target(sanitized)
endif()

# attn_label_test(NAME TARGETS...): puts the test among those, with the targets
# that it runs. Sets ATTN_LABELS to its labels.
macro(attn_label_test name)
  set(ATTN_LABELS "")
  if(${name} IN_LIST ATTN_SANITIZED)
    set(ATTN_LABELS sanitized)
    add_dependencies(sanitized ${ARGN})
  endif()
endmacro()

# attn_configure_lit(SOURCE_ROOT): writes the site configuration of a lit suite
# into the current binary folder.
function(attn_configure_lit source_root)
  set(ATTN_LIT_SOURCE_ROOT ${source_root})
  configure_file(${PROJECT_SOURCE_DIR}/test/lit.site.cfg.py.in
    ${CMAKE_CURRENT_BINARY_DIR}/lit.site.cfg.py @ONLY)
endfunction()

# attn_add_lit_test(NAME FOLDERS...): one ctest test for folders of the suite
# configured here, so that ctest's list says where a failure is.
function(attn_add_lit_test name)
  list(TRANSFORM ARGN PREPEND ${CMAKE_CURRENT_BINARY_DIR}/
    OUTPUT_VARIABLE folders)
  add_test(NAME lit.${name} COMMAND ${ATTN_LIT} -sv -j2 ${folders})
  attn_label_test(lit.${name} attn-opt attn-test-opt)
  set_tests_properties(lit.${name} PROPERTIES PROCESSORS 2 TIMEOUT 1500
    LABELS "${ATTN_LABELS}" ENVIRONMENT "${ATTN_TEST_ENVIRONMENT}")
endfunction()

# attn_add_gtest(NAME sources... [LINK libraries...] [WHOLE]): a GoogleTest
# program. Its cases are counted one by one, or, with WHOLE, run in one process
# because they share something costly such as a compiled program.
function(attn_add_gtest name)
  cmake_parse_arguments(ARG "WHOLE" "" "LINK" ${ARGN})
  add_executable(${name} ${ARG_UNPARSED_ARGUMENTS}
    ${PROJECT_SOURCE_DIR}/cmake/TestEnvironment.cpp)
  target_link_libraries(${name}
    PRIVATE attn_flags ${ARG_LINK} GTest::gmock GTest::gtest GTest::gtest_main)
  target_compile_definitions(${name} PRIVATE
    ATTN_SOURCE_DIR="${PROJECT_SOURCE_DIR}")
  attn_set_sanitizer_options(${name})
  attn_label_test(${name} ${name})
  if(ARG_WHOLE)
    add_test(NAME ${name} COMMAND ${name})
    set_tests_properties(${name} PROPERTIES TIMEOUT 1500
      LABELS "${ATTN_LABELS}")
  else()
    gtest_discover_tests(${name} TEST_PREFIX ${name}/ DISCOVERY_MODE PRE_TEST
      NO_PRETTY_VALUES
      DISCOVERY_TIMEOUT 60 PROPERTIES TIMEOUT 600 LABELS "${ATTN_LABELS}")
  endif()
endfunction()

# attn_add_python_test(NAME SCRIPT arguments...)
function(attn_add_python_test name script)
  add_test(NAME ${name} COMMAND ${Python3_EXECUTABLE} -B ${script} ${ARGN})
  set_tests_properties(${name} PROPERTIES TIMEOUT 600
    ENVIRONMENT "${ATTN_TEST_ENVIRONMENT}")
endfunction()
