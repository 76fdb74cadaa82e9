// Any bytes as words with tags, after a byte that chooses columns or .jsonl.
#include "harness.h"
#include "heed/data/tagged_lines.h"

using namespace heed;

namespace {

// Words with tags in columns are what they were, but for a word that begins a document.
void expect_same_when_written(const data::TaggedLine& line) {
  std::string columns;
  for (std::size_t i = 0; i < line.words.size(); ++i) {
    if (line.words[i] == "-DOCSTART-") return;
    columns += line.words[i] + '\t' + line.tags[i] + '\n';
  }
  const auto again = data::read_tagged_lines(fuzz::folder().write("again.conll", columns));
  fuzz::require(
      again.size() == 1 && again.front().words == line.words && again.front().tags == line.tags,
      "the same words and tags from the columns that they are written as");
}

bool begins_with_mark(const data::TaggedLine& line) {
  return line.words.front().starts_with("\xef\xbb\xbf");  // dropped at the start of a file
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  return fuzz::test(ErrorKind::data, data, size, [](std::string_view input) {
    constexpr const char* names[] = {"tagged.conll", "tagged.jsonl"};
    const auto [choice, content] = fuzz::split_choice(input);
    const auto lines = data::read_tagged_lines(fuzz::folder().write(names[choice % 2], content));
    data::tag_numbers(lines, data::distinct_tags(lines), "tagged");
    if (!begins_with_mark(lines.front())) expect_same_when_written(lines.front());
  });
}
