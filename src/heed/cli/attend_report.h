// The output formats of heed attend.
#pragma once

#include <iosfwd>
#include <optional>
#include <string_view>

#include "heed/cli/attend_command.h"

namespace heed::cli {

// Aligned tables for a person.
void print_table(std::ostream& out, const Attended& attended, std::string_view similarity_name,
                 int precision);

// {"words": [...], "similarity": [[...]], "weights": [[...]], "context": [[...]]}; with several
// heads, similarity and weights hold one matrix for each head. Without a precision every number is
// the shortest that reads back as the same float.
void print_json(std::ostream& out, const Attended& attended, std::optional<int> precision);

// One number a line: part, head, word, to, value. Head and coordinates count from 1; the context
// has no head.
void print_csv(std::ostream& out, const Attended& attended, std::optional<int> precision);

}  // namespace heed::cli
