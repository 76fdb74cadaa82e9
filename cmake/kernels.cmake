# How the kernels are compiled where speed does not matter. A release build does nothing of this.
file(GLOB kernel_sources CONFIGURE_DEPENDS src/heed/kernels/*.cpp)
set(kernel_options "")
set(kernel_definitions "")

if(HEED_ONE_TARGET)
  # Highway then compiles for what the compiler's flags allow. On x86-64 that is AVX2: such a build
  # needs a processor that has it.
  list(APPEND kernel_definitions HWY_COMPILE_ONLY_STATIC)
  if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
    list(APPEND kernel_options -march=haswell -maes)
  endif()
endif()

if(HEED_SANITIZE MATCHES "address" AND CMAKE_CXX_COMPILER_ID STREQUAL Clang)
  # Kernels are chains of inlined functions with vectors in local variables. Checks of every such
  # variable's lifetime and of every pointer take minutes to compile. Without them, and with the
  # checks of memory as function calls, every access to memory is still checked.
  list(APPEND kernel_options -fno-sanitize-address-use-after-scope
       -mllvm -asan-instrumentation-with-call-threshold=0
       -fno-sanitize=alignment,function,null,object-size,pointer-overflow,vptr
       -fno-sanitize=unsigned-integer-overflow,implicit-conversion)
endif()

if(HEED_BUILD_FUZZERS)
  # Kernels see numbers, not files: nothing in them is worth counting.
  list(APPEND kernel_options -fno-sanitize=fuzzer-no-link)
endif()

if(kernel_options OR kernel_definitions)
  # Other options than the rest, so precompiled headers do not fit.
  set_source_files_properties(${kernel_sources} PROPERTIES
    COMPILE_OPTIONS "${kernel_options}" COMPILE_DEFINITIONS "${kernel_definitions}"
    SKIP_PRECOMPILE_HEADERS ON)
endif()
