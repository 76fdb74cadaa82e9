// Regular expressions as tokenizer.json has them: Oniguruma's, which is also the engine of the
// library that the format comes from.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace heed::text {

struct ByteRange {
  std::size_t begin = 0;
  std::size_t end = 0;
};

// Copies share the compiled expression; any number of threads may use one at the same time.
class Regex {
 public:
  // Refuses (ErrorKind::model) what is no expression, or a very long one. `name` stands for it in
  // messages.
  Regex(std::string_view pattern, std::string name);

  // The first match at or after `from`. Refuses (ErrorKind::model) to search when a match takes
  // very many steps or very much memory: a pattern may come from anywhere.
  std::optional<ByteRange> search(std::string_view text, std::size_t from) const;

 private:
  struct Compiled;
  std::string name_;
  std::shared_ptr<const Compiled> compiled_;
};

}  // namespace heed::text
