// A double that remembers how it was computed, so that plain loops have a gradient.
//
// A reference is written once, as a template over its number type: with double it gives values,
// with Real it also leaves a tape, and the tape gives the gradient by the chain rule, backwards.
#pragma once

#include <cmath>
#include <cstdint>
#include <numbers>
#include <span>
#include <vector>

namespace heed::reference {

class Real {
 public:
  Real(double value = 0) : value_(value) {}  // a constant: no gradient flows into it

  static Real variable(double value);  // a new beginning of the tape
  // A result with the partial derivatives by the numbers that it came from.
  static Real from(double value, const Real& parent, double partial);
  static Real from(double value, const Real& left, double left_partial, const Real& right,
                   double right_partial);

  double value() const { return value_; }
  std::int32_t place() const { return place_; }

 private:
  Real(double value, std::int32_t place) : value_(value), place_(place) {}

  double value_;
  std::int32_t place_ = -1;  // on the tape; -1 for constants
};

// All steps since the last clear(). One per process: tests run one after another.
class Tape {
 public:
  struct Step {
    std::int32_t left, right;  // places of the parents, -1 for none
    double left_partial, right_partial;
  };

  std::int32_t add(const Step& step);
  void clear() { steps_.clear(); }
  // d(sum of weights * results) / d(every place).
  std::vector<double> gradients(std::span<const Real> results,
                                std::span<const double> weights) const;

 private:
  std::vector<Step> steps_;
};

extern Tape tape;

inline std::int32_t Tape::add(const Step& step) {
  steps_.push_back(step);
  return static_cast<std::int32_t>(steps_.size()) - 1;
}

inline Real Real::variable(double value) { return Real(value, tape.add({-1, -1, 0, 0})); }

inline Real Real::from(double value, const Real& parent, double partial) {
  if (parent.place_ < 0) return Real(value);
  return Real(value, tape.add({parent.place_, -1, partial, 0}));
}

inline Real Real::from(double value, const Real& left, double left_partial, const Real& right,
                       double right_partial) {
  if (left.place_ < 0 && right.place_ < 0) return Real(value);
  return Real(value, tape.add({left.place_, right.place_, left_partial, right_partial}));
}

inline double value_of(double x) { return x; }
inline double value_of(const Real& x) { return x.value(); }

inline Real operator+(const Real& a, const Real& b) {
  return Real::from(a.value() + b.value(), a, 1, b, 1);
}
inline Real operator-(const Real& a, const Real& b) {
  return Real::from(a.value() - b.value(), a, 1, b, -1);
}
inline Real operator*(const Real& a, const Real& b) {
  return Real::from(a.value() * b.value(), a, b.value(), b, a.value());
}
inline Real operator/(const Real& a, const Real& b) {
  const double quotient = a.value() / b.value();
  return Real::from(quotient, a, 1 / b.value(), b, -quotient / b.value());
}
inline Real operator-(const Real& a) { return Real::from(-a.value(), a, -1); }
inline Real& operator+=(Real& a, const Real& b) { return a = a + b; }
inline bool operator<(const Real& a, const Real& b) { return a.value() < b.value(); }
inline bool operator>(const Real& a, const Real& b) { return a.value() > b.value(); }

inline Real exp(const Real& x) {
  const double y = std::exp(x.value());
  return Real::from(y, x, y);
}
inline Real log(const Real& x) { return Real::from(std::log(x.value()), x, 1 / x.value()); }
inline Real sqrt(const Real& x) {
  const double y = std::sqrt(x.value());
  return Real::from(y, x, 0.5 / y);
}
inline Real tanh(const Real& x) {
  const double y = std::tanh(x.value());
  return Real::from(y, x, 1 - y * y);
}
inline Real erf(const Real& x) {
  const double slope = 2 * std::numbers::inv_sqrtpi * std::exp(-x.value() * x.value());
  return Real::from(std::erf(x.value()), x, slope);
}

}  // namespace heed::reference
