// Stop texts: cuts generated text before the first of some words.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace heed::infer {

class StopText {
 public:
  // Empty words are ignored.
  explicit StopText(const std::vector<std::string>& words);

  // The text that is final after this part: nothing that may be the start of a stop word, nothing
  // after one.
  std::string add(std::string_view part);
  // The text that was held back, at the end.
  std::string finish();
  bool is_stopped() const { return is_stopped_; }

 private:
  std::size_t num_held() const;

  std::vector<std::string> words_;
  std::string text_;  // not given out yet
  bool is_stopped_ = false;
};

}  // namespace heed::infer
