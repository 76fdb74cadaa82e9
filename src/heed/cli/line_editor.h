// Lines that a person types on a terminal, with editing keys and a history.
#pragma once

#include <memory>
#include <optional>
#include <string>

namespace heed::cli {

class LineEditor {
 public:
  // The prompt is printed before the line.
  explicit LineEditor(std::string prompt);
  ~LineEditor();
  LineEditor(const LineEditor&) = delete;
  LineEditor& operator=(const LineEditor&) = delete;

  // The next line, without its end; nothing when there are no more.
  std::optional<std::string> next();

  struct State;  // libedit's

 private:
  std::unique_ptr<State> state_;
};

}  // namespace heed::cli
