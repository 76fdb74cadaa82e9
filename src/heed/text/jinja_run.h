// One rendering of a template: how much work it has done, and where it is.
#pragma once

#include <algorithm>
#include <cstddef>
#include <ctime>
#include <string>
#include <string_view>
#include <utility>

#include "heed/base/error.h"
#include "heed/text/jinja_template.h"

namespace heed::text::jinja {

class Run {
 public:
  Run(std::string name, const JinjaLimits& limits, std::time_t now)
      : name_(std::move(name)), limits_(limits), now_(now) {}

  // Counts work: one unit is about one step of an expression.
  void charge(std::size_t units) {
    if (units > limits_.max_work - work_)
      fail("expected a template that ends, found one of more than ", limits_.max_work, " steps");
    work_ += units;
  }
  void charge_text(std::size_t bytes) { charge(1 + bytes / bytes_per_unit); }
  void charge_list(std::size_t elements) { charge(units_per_element * (1 + elements)); }

  // Appends to a text of the output.
  void append(std::string& out, std::string_view text) {
    charge_text(text.size());
    if (text.size() > limits_.max_output - std::min(out.size(), limits_.max_output)) {
      fail("expected an output of at most ", limits_.max_output, " bytes");
    }
    out += text;
  }

  void go_to_line(int line) { line_ = line; }
  int line() const { return line_; }
  std::time_t now() const { return now_; }
  const std::string& name() const { return name_; }
  const JinjaLimits& limits() const { return limits_; }

  template <typename... Parts>
  [[noreturn]] void fail(const Parts&... parts) const {
    heed::fail(ErrorKind::model, name_, ":", line_, ": ", parts...);
  }

  // What is inside what, while it is evaluated.
  class Level {
   public:
    explicit Level(Run& run) : run_(run) {
      if (run_.depth_ == max_depth)
        run_.fail("expected at most ", max_depth,
                  " levels of macros and expressions inside each other");
      ++run_.depth_;
    }
    ~Level() { --run_.depth_; }
    Level(const Level&) = delete;
    Level& operator=(const Level&) = delete;

   private:
    Run& run_;
  };

 private:
  static constexpr std::size_t bytes_per_unit = 16;
  static constexpr std::size_t units_per_element = 2;
  static constexpr int max_depth = 1000;

  std::string name_;
  JinjaLimits limits_;
  std::time_t now_;
  std::size_t work_ = 0;
  int line_ = 1;
  int depth_ = 0;
};

}  // namespace heed::text::jinja
