#include "heed/infer/stop_text.h"

#include <algorithm>
#include <utility>

namespace heed::infer {

StopText::StopText(const std::vector<std::string>& words) : words_(words) {
  std::erase_if(words_, [](const std::string& word) { return word.empty(); });
}

std::string StopText::add(std::string_view part) {
  if (is_stopped_) return "";
  text_ += part;
  std::size_t end = text_.npos;
  for (const std::string& word : words_) end = std::min(end, text_.find(word));
  if (end != text_.npos) {
    is_stopped_ = true;
    return std::exchange(text_, "").substr(0, end);
  }
  const std::size_t certain = text_.size() - num_held();
  std::string out = text_.substr(0, certain);
  text_.erase(0, certain);
  return out;
}

// The longest end of the text that a word begins with.
std::size_t StopText::num_held() const {
  std::size_t longest = 0;
  for (const std::string& word : words_) {
    std::size_t length = std::min(word.size() - 1, text_.size());
    while (length > longest && !text_.ends_with(std::string_view(word).substr(0, length))) --length;
    longest = std::max(longest, length);
  }
  return longest;
}

std::string StopText::finish() { return std::exchange(text_, ""); }

}  // namespace heed::infer
