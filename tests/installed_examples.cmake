# Installs the build into a folder, builds the examples against it as a user would, and runs each.
#
#   cmake -DBUILD=... -DEXAMPLES=... -DWORK=... -DSHARED=ON|OFF -DLIBDIR=lib
#         -DCOMPILER=... -P installed_examples.cmake
cmake_minimum_required(VERSION 3.25)

# must_run(COMMAND ... [INPUT file]): sets `output`.
function(must_run)
  cmake_parse_arguments(PARSE_ARGV 0 arg "" "INPUT" "COMMAND")
  set(input "")
  if(arg_INPUT)
    set(input INPUT_FILE ${arg_INPUT})
  endif()
  execute_process(COMMAND ${arg_COMMAND} ${input} WORKING_DIRECTORY ${WORK} RESULT_VARIABLE code
                  OUTPUT_VARIABLE out ERROR_VARIABLE out)
  if(NOT code EQUAL 0)
    message(FATAL_ERROR "${arg_COMMAND}\nended with ${code}:\n${out}")
  endif()
  set(output "${out}" PARENT_SCOPE)
endfunction()

file(REMOVE_RECURSE ${WORK})
file(MAKE_DIRECTORY ${WORK})
set(prefix ${WORK}/prefix)
must_run(COMMAND ${CMAKE_COMMAND} --install ${BUILD} --prefix ${prefix})
must_run(COMMAND ${CMAKE_COMMAND} -G Ninja -S ${EXAMPLES} -B ${WORK}/examples
                 -DCMAKE_PREFIX_PATH=${prefix})
must_run(COMMAND ${CMAKE_COMMAND} --build ${WORK}/examples)
must_run(COMMAND ${prefix}/bin/heed --version)

# A corpus, and models after a few updates: enough to be run.
set(heed ${prefix}/bin/heed)
must_run(COMMAND ${heed} corpus --pairs 2000 --valid-pairs 50 --test-pairs 50 --output corpus)
must_run(COMMAND ${heed} train --quiet --preset demo --after 20u --model translator
                 --source corpus/train.en --target corpus/train.de)
must_run(COMMAND ${heed} train --quiet --preset char --after 5u --model language
                 --text corpus/train.en)
file(WRITE ${WORK}/lines.txt "the cat sleeps\nthe dog runs\n")

# run_example(name [INPUT file] [EXPECT regular expression] [arguments ...])
function(run_example name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "INPUT;EXPECT" "")
  if(NOT EXISTS ${WORK}/examples/${name})
    return()
  endif()
  must_run(COMMAND ${WORK}/examples/${name} ${arg_UNPARSED_ARGUMENTS} INPUT "${arg_INPUT}")
  if(NOT output MATCHES "${arg_EXPECT}")
    message(FATAL_ERROR "${name}: expected ${arg_EXPECT}, found\n${output}")
  endif()
  set_property(GLOBAL APPEND PROPERTY examples_run ${name})
endfunction()

# Each example has a line here; one without is an error.
run_example(attention EXPECT "0\\.401.*heads \\[2, 4, 32\\]")
run_example(training_loop EXPECT "accuracy on unseen sequences: (0\\.9|1)")
run_example(train_classifier classifier EXPECT "after update 150: .*sequences: (0\\.9|1)")
run_example(train_classifier classifier EXPECT "after update 150 \\(was finished\\)")
run_example(translate translator INPUT ${WORK}/lines.txt)
run_example(generate language "the cat" EXPECT "^the cat")
run_example(watch_head translator "the cat sleeps" EXPECT "</s>")

file(GLOB examples RELATIVE ${EXAMPLES} ${EXAMPLES}/*.cpp)
get_property(examples_run GLOBAL PROPERTY examples_run)
foreach(example ${examples})
  string(REGEX REPLACE "\\.cpp$" "" name ${example})
  if(NOT name IN_LIST examples_run)
    message(FATAL_ERROR "${name}: expected a line in tests/installed_examples.cmake that runs it")
  endif()
endforeach()

# The same with pkg-config instead of find_package, for the first of them.
list(GET examples 0 example)
set(static --static)
if(SHARED)
  set(static "")
endif()
set(ENV{PKG_CONFIG_PATH} ${prefix}/${LIBDIR}/pkgconfig)
must_run(COMMAND pkg-config ${static} --cflags --libs heed)
string(STRIP "${output}" flags)
separate_arguments(flags UNIX_COMMAND "${flags}")
must_run(COMMAND ${COMPILER} -std=c++20 ${EXAMPLES}/${example} -o by_pkg_config ${flags}
                 -Wl,-rpath,${prefix}/${LIBDIR})
if(example MATCHES "attention")
  must_run(COMMAND ${WORK}/by_pkg_config)
endif()
