#include "heed/text/regex.h"

#include <oniguruma.h>

#include <algorithm>
#include <array>
#include <mutex>
#include <utility>

#include "heed/base/error.h"
#include "heed/base/printable.h"
#include "heed/base/utf8.h"

namespace heed::text {
namespace {

constexpr std::size_t max_pattern_bytes = 1 << 16;
constexpr int max_parse_depth = 250;
constexpr unsigned int max_stack_entries = 1 << 22;

const OnigUChar* bytes_of(std::string_view text) {
  static constexpr OnigUChar nothing[] = {0};
  return text.empty() ? nothing : reinterpret_cast<const OnigUChar*>(text.data());
}

void initialize() {
  static std::once_flag once;
  std::call_once(once, [] {
    OnigEncoding encodings[] = {ONIG_ENCODING_UTF8};
    onig_initialize(encodings, 1);
    onig_set_parse_depth_limit(max_parse_depth);
  });
}

std::string message_of(int code, OnigErrorInfo* info = nullptr) {
  std::array<OnigUChar, ONIG_MAX_ERROR_MESSAGE_LEN> message{};
  const int length = onig_error_code_to_str(message.data(), code, info);
  return {reinterpret_cast<const char*>(message.data()), static_cast<std::size_t>(length)};
}

// How often a match may go back and try again. A long text may need Oniguruma's own default; a
// short one is refused sooner.
unsigned long max_retries(std::size_t text_size) {
  constexpr unsigned long most = 10'000'000, always = 100'000, for_each_byte = 1000;
  return text_size < most / for_each_byte ? always + for_each_byte * text_size : most;
}

class MatchLimits {
 public:
  MatchLimits() : params_(onig_new_match_param()) {
    onig_initialize_match_param(params_);
    onig_set_match_stack_limit_size_of_match_param(params_, max_stack_entries);
  }
  ~MatchLimits() { onig_free_match_param(params_); }
  MatchLimits(const MatchLimits&) = delete;
  MatchLimits& operator=(const MatchLimits&) = delete;

  OnigMatchParam* get() const { return params_; }
  void set_for(std::size_t text_size) {
    constexpr unsigned long for_each_start = 100;  // a search tries to match at every byte
    const unsigned long retries = max_retries(text_size);
    onig_set_retry_limit_in_match_of_match_param(params_, retries);
    onig_set_retry_limit_in_search_of_match_param(params_, retries + for_each_start * text_size);
  }

 private:
  OnigMatchParam* params_;
};

class Region {
 public:
  Region() : region_(onig_region_new()) {}
  ~Region() { onig_region_free(region_, 1); }
  Region(const Region&) = delete;
  Region& operator=(const Region&) = delete;

  OnigRegion* get() const { return region_; }
  // An expression with \K may begin its match anywhere; no match begins before the search.
  ByteRange match(std::size_t from) const {
    const std::size_t begin = std::max(from, static_cast<std::size_t>(region_->beg[0]));
    return {begin, std::max(begin, static_cast<std::size_t>(region_->end[0]))};
  }

 private:
  OnigRegion* region_;
};

}  // namespace

struct Regex::Compiled {
  Compiled() = default;
  ~Compiled() { onig_free(regex); }
  Compiled(const Compiled&) = delete;
  Compiled& operator=(const Compiled&) = delete;

  OnigRegex regex = nullptr;
};

Regex::Regex(std::string_view pattern, std::string name) : name_(std::move(name)) {
  initialize();
  check_as(ErrorKind::model, pattern.size() <= max_pattern_bytes, name_,
           ": expected a regular expression of at most ", max_pattern_bytes, " bytes, found ",
           pattern.size());
  check_as(ErrorKind::model, is_valid_utf8(pattern), name_, ": expected UTF-8");
  auto compiled = std::make_shared<Compiled>();
  OnigErrorInfo info{};
  const OnigUChar* begin = bytes_of(pattern);
  const int code = onig_new(&compiled->regex, begin, begin + pattern.size(), ONIG_OPTION_NONE,
                            ONIG_ENCODING_UTF8, ONIG_SYNTAX_ONIGURUMA, &info);
  check_as(ErrorKind::model, code == ONIG_NORMAL, name_, ": expected a regular expression, found ",
           excerpt(pattern), ": ", message_of(code, &info));
  compiled_ = std::move(compiled);
}

std::optional<ByteRange> Regex::search(std::string_view text, std::size_t from) const {
  thread_local MatchLimits limits;
  thread_local Region region;
  limits.set_for(text.size());
  const OnigUChar* begin = bytes_of(text);
  const OnigUChar* end = begin + text.size();
  const int result = onig_search_with_param(compiled_->regex, begin, end, begin + from, end,
                                            region.get(), ONIG_OPTION_NONE, limits.get());
  if (result == ONIG_MISMATCH) return std::nullopt;
  check_as(ErrorKind::model, result >= 0, name_, ": cannot search a text of ", text.size(),
           " bytes: ", message_of(result));
  return region.match(from);
}

}  // namespace heed::text
