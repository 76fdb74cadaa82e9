// Text as it comes, up to the first of some words that end it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace heed::infer {

class StopText {
 public:
  // Empty words are passed over.
  explicit StopText(const std::vector<std::string>& words);

  // What this part makes certain: nothing that may be the beginning of a word, nothing behind one.
  std::string add(std::string_view part);
  // What was held back, when nothing more comes.
  std::string finish();
  bool is_stopped() const { return is_stopped_; }

 private:
  std::size_t num_held() const;

  std::vector<std::string> words_;
  std::string text_;  // not given out yet
  bool is_stopped_ = false;
};

}  // namespace heed::infer
