#include "heed/text/metaspace.h"

#include "heed/base/error.h"
#include "heed/base/printable.h"
#include "heed/text/code_points.h"

namespace heed::text {
namespace {

// Older files have the field add_prefix_space instead of prepend_scheme, newer ones may have both.
PrependScheme read_scheme(const io::JsonFields& fields) {
  const bool has_prefix = fields.boolean_or("add_prefix_space", true);
  const std::string scheme = fields.choice_or("prepend_scheme", has_prefix ? "always" : "never",
                                              {"always", "first", "never"});
  check_as(ErrorKind::model, has_prefix || scheme == "never", fields.place("prepend_scheme"),
           ": expected never, as add_prefix_space is false, found ", scheme);
  if (scheme == "never") return PrependScheme::never;
  return scheme == "first" ? PrependScheme::first : PrependScheme::always;
}

}  // namespace

std::string one_character(const io::JsonFields& fields, const std::string& name) {
  std::string text = fields.text(name);
  check_as(ErrorKind::model, count_code_points(text) == 1, fields.place(name),
           ": expected one character, found \"", excerpt(text), '"');
  return text;
}

Metaspace read_metaspace(const io::JsonFields& fields) {
  return {.replacement = one_character(fields, "replacement"),
          .prepend_scheme = read_scheme(fields),
          .splits = fields.boolean_or("split", true)};
}

}  // namespace heed::text
