# embed_text(target file symbol): embeds a text file in a library, as the function
# `std::string_view heed::data::embedded::symbol()`. Changing the file reruns CMake.
function(embed_text target file symbol)
  set(path ${CMAKE_CURRENT_SOURCE_DIR}/${file})
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${path})
  file(READ ${path} text)
  set(generated ${CMAKE_CURRENT_BINARY_DIR}/embedded/${symbol}.cpp)
  file(CONFIGURE OUTPUT ${generated} @ONLY CONTENT [=[
// Generated from @file@.
#include <string_view>

namespace heed::data::embedded {

std::string_view @symbol@() {
  static constexpr char text[] = R"embedded(@text@)embedded";
  return {text, sizeof(text) - 1};
}

}  // namespace heed::data::embedded
]=])
  target_sources(${target} PRIVATE ${generated})
endfunction()
