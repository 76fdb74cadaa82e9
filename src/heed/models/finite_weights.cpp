#include "heed/models/finite_weights.h"

#include <algorithm>
#include <bit>
#include <limits>
#include <vector>

#include "heed/base/error.h"
#include "heed/base/parallel.h"

namespace heed::models {
namespace {

constexpr Index values_per_piece = 1 << 16;
constexpr std::uint32_t float_exponent = 0x7f800000;

// A number is infinite or NaN if all bits of its exponent are set: then adding the lowest of them
// carries into the sign. Without a branch, compilers make vectors of this loop.
template <typename Number, typename Bits>
bool has_not_finite(std::span<const Number> values, Bits exponent) {
  constexpr Bits sign = std::numeric_limits<Bits>::max() / 2 + 1;
  const Bits lowest = exponent & (~exponent + 1);
  Bits carries = 0;
  for (const Number value : values) {
    carries |= static_cast<Bits>((std::bit_cast<Bits>(value) & exponent) + lowest);
  }
  return (carries & sign) != 0;
}

template <typename Number, typename Bits>
std::optional<Index> find_in(std::span<const Number> values, Bits exponent) {
  if (!has_not_finite(values, exponent)) return std::nullopt;
  const auto is_not_finite = [exponent](Number value) {
    return (std::bit_cast<Bits>(value) & exponent) == exponent;
  };
  return std::ranges::find_if(values, is_not_finite) - values.begin();
}

template <typename Number, typename Bits>
std::optional<Index> find(std::span<const Number> values, Bits exponent) {
  constexpr Index none = std::numeric_limits<Index>::max();
  const Index count = std::ssize(values);
  std::vector<Index> places(static_cast<std::size_t>(quotient_up(count, values_per_piece)), none);
  parallel_ranges(count, values_per_piece, [&](Index begin, Index end) {
    const auto place = find_in<Number, Bits>(values.subspan(begin, end - begin), exponent);
    if (place) places[begin / values_per_piece] = begin + *place;
  });
  const auto first = std::ranges::min_element(places);
  if (first == places.end() || *first == none) return std::nullopt;
  return *first;
}

}  // namespace

std::optional<Index> first_not_finite(std::span<const float> values) {
  return find<float, std::uint32_t>(values, float_exponent);
}

std::optional<Index> first_not_finite(std::span<const std::uint16_t> halves,
                                      std::uint16_t exponent) {
  return find<std::uint16_t, std::uint16_t>(halves, exponent);
}

void fail_not_finite(float value, Index place, const std::string& name, const std::string& file) {
  fail(ErrorKind::model, file, ": ", name, '[', place, "]: expected a finite weight, found ",
       value);
}

void check_finite(std::span<const float> values, const std::string& name, const std::string& file,
                  Index offset) {
  const std::optional<Index> place = first_not_finite(values);
  if (place) fail_not_finite(values[*place], offset + *place, name, file);
}

void check_finite(std::span<const nn::NamedTensor> parameters, const std::string& file) {
  for (const nn::NamedTensor& parameter : parameters) {
    check_finite(parameter.value.values(), parameter.name, file);
  }
}

}  // namespace heed::models
