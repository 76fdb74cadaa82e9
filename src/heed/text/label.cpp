#include "heed/text/label.h"

#include "heed/base/printable.h"

namespace heed::text {

void check_label(std::string_view label, std::string_view where, ErrorKind kind) {
  check_as(kind, label.size() <= max_label_bytes, where, ": expected a label of at most ",
           max_label_bytes, " bytes, found one of ", label.size());
  check_as(kind, !has_control_characters(label), where,
           ": expected a label on one line, without control characters, found \"", excerpt(label),
           '"');
}

}  // namespace heed::text
