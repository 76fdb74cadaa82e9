// Any bytes as records, after a byte that chooses .tsv, .csv or .jsonl, and whether they are
// contrastive translations.
#include "harness.h"
#include "heed/data/contrastive_items.h"
#include "heed/data/labelled_lines.h"
#include "heed/data/records.h"
#include "heed/text/csv.h"

using namespace heed;

namespace {

// Fields that are written come back when they are read, unless a line of blanks is all there is.
void expect_same_when_written(const data::Record& record) {
  std::string row = "label,text\n";
  for (const std::string& value : record.values) row += text::csv_field(value) + ',';
  row.back() = '\n';
  const auto again = data::read_records(fuzz::folder().write("again.csv", row),
                                        data::labelled_roles(), {.has_header = true})
                         .records;
  fuzz::require(again.size() == 1 && again.front().values == record.values,
                "the same fields from the CSV that they are written as");
}

bool has_carriage_return(const data::Record& record) {
  return (record.values[0] + record.values[1]).find('\r') != std::string::npos;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  return fuzz::test(ErrorKind::data, data, size, [](std::string_view input) {
    constexpr const char* names[] = {"records.tsv", "records.csv", "records.jsonl"};
    const auto [choice, content] = fuzz::split_choice(input);
    const std::string path = fuzz::folder().write(names[choice % 3], content);
    if (choice / 3 % 2 == 1) {
      data::read_contrastive_items(path);
      return;
    }
    const auto records = data::read_records(path, data::labelled_roles()).records;
    if (!has_carriage_return(records.front())) expect_same_when_written(records.front());
    data::read_labelled_lines(path);
  });
}
