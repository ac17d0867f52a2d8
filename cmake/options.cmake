# SPDX-License-Identifier: Apache-2.0
# What every target of this project is compiled with.
add_library(abortscope_options INTERFACE)
target_compile_features(abortscope_options INTERFACE cxx_std_20)
target_compile_options(abortscope_options INTERFACE
  -Wall -Wextra -Wconversion -Wshadow -Werror)
target_include_directories(abortscope_options INTERFACE
  ${PROJECT_SOURCE_DIR})
if(ABORTSCOPE_SANITIZE)
  target_compile_options(abortscope_options INTERFACE
    -fsanitize=${ABORTSCOPE_SANITIZE} -fno-sanitize-recover=undefined -fno-omit-frame-pointer)
  target_link_options(abortscope_options INTERFACE -fsanitize=${ABORTSCOPE_SANITIZE})
endif()

# abortscope_folder(NAME LINKS...): the library of one top-level folder, made of every source file
# in it. The folder is the list, so a new concept is a new file and nothing else.
function(abortscope_folder name)
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/*.cpp)
  if(sources)
    add_library(abortscope_${name} STATIC ${sources})
    set(scope PUBLIC)
  else()
    add_library(abortscope_${name} INTERFACE)
    set(scope INTERFACE)
  endif()
  target_link_libraries(abortscope_${name} ${scope} abortscope_options ${ARGN})
endfunction()

# abortscope_tests(FOLDER LINKS...): one GoogleTest program for the tests that mirror a folder.
function(abortscope_tests folder)
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/tests/${folder}/*_test.cpp)
  if(NOT sources)
    return()
  endif()
  string(REPLACE "/" "_" name ${folder})
  add_executable(${name}_tests ${sources})
  target_link_libraries(${name}_tests PRIVATE ${ARGN} GTest::gtest_main GTest::gmock)
  target_compile_definitions(${name}_tests PRIVATE ABORTSCOPE_TESTS_DIR="${PROJECT_SOURCE_DIR}/tests")
  gtest_discover_tests(${name}_tests TEST_PREFIX "${folder}: " DISCOVERY_TIMEOUT 60)
endfunction()
