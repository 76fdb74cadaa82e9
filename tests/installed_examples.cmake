# Installs the build into a folder, builds the examples against it as a user would, and runs one.
#
#   cmake -DBUILD=... -DEXAMPLES=... -DWORK=... -P installed_examples.cmake
function(must_run)
  execute_process(COMMAND ${ARGV} RESULT_VARIABLE code OUTPUT_VARIABLE out ERROR_VARIABLE out)
  if(NOT code EQUAL 0)
    message(FATAL_ERROR "${ARGV}\nended with ${code}:\n${out}")
  endif()
  set(output "${out}" PARENT_SCOPE)
endfunction()

file(REMOVE_RECURSE ${WORK})
must_run(${CMAKE_COMMAND} --install ${BUILD} --prefix ${WORK}/prefix)
must_run(${CMAKE_COMMAND} -G Ninja -S ${EXAMPLES} -B ${WORK}/examples
         -DCMAKE_PREFIX_PATH=${WORK}/prefix)
must_run(${CMAKE_COMMAND} --build ${WORK}/examples)
must_run(${WORK}/prefix/bin/heed --version)
must_run(${WORK}/examples/self_attention)
if(NOT output MATCHES "0\\.401")
  message(FATAL_ERROR "self_attention: expected bat to keep 0.401 of itself, found\n${output}")
endif()
