#include "heed/text/jinja_template.h"

#include <nlohmann/json.hpp>

#include "heed/base/error.h"
#include "heed/base/utf8.h"
#include "heed/text/jinja_functions.h"
#include "heed/text/jinja_json.h"
#include "heed/text/jinja_parser.h"
#include "heed/text/jinja_run.h"

namespace heed::text {

struct JinjaTemplate::Parts {
  std::string name;
  jinja::Block block;
};

namespace {

constexpr std::size_t max_source_bytes = std::size_t{1} << 20;

// Functions are variables that a template may hide.
void define_functions(jinja::Scope& scope) {
  for (const char* name : {"range", "namespace", "dict", "raise_exception", "strftime_now"}) {
    scope.set(name, {*jinja::find_function(name)});
  }
}

}  // namespace

JinjaTemplate JinjaTemplate::parse(std::string_view source, const std::string& name) {
  check_as(ErrorKind::model, source.size() <= max_source_bytes, name,
           ": expected a template of at most ", max_source_bytes, " bytes, found ", source.size());
  check_as(ErrorKind::model, is_valid_utf8(source), name, ": expected UTF-8, found other bytes");
  auto parts = std::make_shared<Parts>();
  parts->name = name;
  parts->block = jinja::StatementParser(jinja::read_tokens(source, name), name).read();
  return JinjaTemplate(std::move(parts));
}

std::string JinjaTemplate::render(const nlohmann::ordered_json& variables, std::time_t now,
                                  const JinjaLimits& limits) const {
  jinja::Run run(parts_->name, limits, now);
  jinja::Scope functions(nullptr), given(&functions), scope(&given);
  define_functions(functions);
  for (const auto& [name, value] : variables.items()) given.set(name, from_json(run, value));
  std::string out;
  render_block(run, scope, out, parts_->block);
  return out;
}

}  // namespace heed::text
