# embed_page(target): builds the explorer page in web/ and embeds it in a library, as
# heed::explore::page_files(). npm installs the packages of package-lock.json when that file changes;
# the page is rebuilt when one of its sources changes.
function(embed_page target)
  find_program(NODE node REQUIRED)
  find_program(NPM npm REQUIRED)
  set(web ${CMAKE_CURRENT_SOURCE_DIR}/web)
  set(built ${CMAKE_CURRENT_BINARY_DIR}/web)
  set(generated ${CMAKE_CURRENT_BINARY_DIR}/embedded/page_files.cpp)
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${web}/src/* ${web}/public/*)

  # npm writes this list last, so it exists only if all packages do. All build folders share it.
  set(packages ${web}/node_modules/.package-lock.json)
  add_custom_command(
    OUTPUT ${packages}
    COMMAND ${NPM} ci --no-audit --no-fund --no-update-notifier --loglevel=error
    COMMAND ${CMAKE_COMMAND} -E touch ${packages}
    DEPENDS ${web}/package.json ${web}/package-lock.json
    WORKING_DIRECTORY ${web}
    COMMENT "Installing the build tools of the explorer page")
  add_custom_command(
    OUTPUT ${generated}
    COMMAND ${NODE} node_modules/vite/bin/vite.js build --logLevel warn --outDir ${built}
            --emptyOutDir
    COMMAND ${CMAKE_COMMAND} -E make_directory ${CMAKE_CURRENT_BINARY_DIR}/embedded
    COMMAND ${NODE} ${CMAKE_CURRENT_SOURCE_DIR}/cmake/embed_page.mjs ${built} ${generated}
    DEPENDS ${packages} ${sources} ${web}/index.html ${web}/vite.config.ts ${web}/svelte.config.js
            ${web}/tsconfig.json ${CMAKE_CURRENT_SOURCE_DIR}/cmake/embed_page.mjs
    WORKING_DIRECTORY ${web}
    COMMENT "Building the explorer page")
  target_sources(${target} PRIVATE ${generated})
endfunction()

# The same function without a page: `heed explore` then reports that it was left out.
function(embed_no_page target)
  set(generated ${CMAKE_CURRENT_BINARY_DIR}/embedded/no_page_files.cpp)
  file(CONFIGURE OUTPUT ${generated} CONTENT [=[
#include "heed/explore/page_files.h"

namespace heed::explore {

serve::StaticFiles page_files() { return {}; }

}  // namespace heed::explore
]=])
  target_sources(${target} PRIVATE ${generated})
endfunction()
