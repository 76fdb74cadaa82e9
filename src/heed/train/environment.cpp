#include "heed/train/environment.h"

#include <features.h>
#ifdef __GLIBC__
#include <gnu/libc-version.h>
#endif

#include <nlohmann/json.hpp>

#include "heed/base/version.h"
#include "heed/io/json_fields.h"
#include "heed/kernels/targets.h"

namespace heed::train {
namespace {

std::string c_library() {
#ifdef __GLIBC__
  return std::string("glibc ") + ::gnu_get_libc_version();
#else
  return "another C library";
#endif
}

}  // namespace

Environment current_environment() {
#ifdef __clang__
  const std::string compiler = __VERSION__;  // "Debian Clang 14.0.6"
#else
  const std::string compiler = std::string("GCC ") + __VERSION__;
#endif
  return {version, kernels::dispatched_target(), c_library(), compiler};
}

std::string to_string(const Environment& environment) {
  return "Heed " + environment.heed + ", " + environment.instruction_set + ", " +
         environment.c_library + ", " + environment.compiler;
}

std::string to_json(const Environment& environment) {
  return nlohmann::ordered_json{{"heed", environment.heed},
                                {"instruction_set", environment.instruction_set},
                                {"c_library", environment.c_library},
                                {"compiler", environment.compiler}}
      .dump();
}

Environment environment_from_json(std::string_view text, const std::string& source) {
  const auto fields = io::JsonFields::parse(text, source);
  return {fields.text("heed"), fields.text("instruction_set"), fields.text("c_library"),
          fields.text("compiler")};
}

}  // namespace heed::train
