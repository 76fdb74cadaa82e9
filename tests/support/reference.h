// What each operation means, as plain loops in double precision. Written for reading, not for
// speed: the fast versions are measured against these, values and gradients.
//
// Every function is a template over its number type: double, or Real for the gradient.
#pragma once

#include <cmath>
#include <limits>
#include <numbers>
#include <span>

#include "heed/core/spans.h"
#include "heed/ops/elementwise.h"
#include "heed/ops/positions.h"
#include "heed/ops/similarity.h"
#include "support/matrix.h"
#include "support/real.h"

namespace heed::reference {

// ---- Elements

template <typename T>
Matrix<T> add(const Matrix<T>& a, const Matrix<T>& b) {
  Matrix<T> y(a.rows, a.cols);
  for (std::size_t i = 0; i < y.values.size(); ++i) y.values[i] = a.values[i] + b.values[i];
  return y;
}

template <typename T>
Matrix<T> multiply(const Matrix<T>& a, const Matrix<T>& b) {
  Matrix<T> y(a.rows, a.cols);
  for (std::size_t i = 0; i < y.values.size(); ++i) y.values[i] = a.values[i] * b.values[i];
  return y;
}

template <typename T>
Matrix<T> scale(const Matrix<T>& x, double factor) {
  return map(x, [&](const T& value) { return value * T(factor); });
}

template <typename T>
Matrix<T> sum(const Matrix<T>& x) {
  Matrix<T> y(1, 1);
  for (const T& value : x.values) y.values[0] += value;
  return y;
}

template <typename T>
Matrix<T> relu(const Matrix<T>& x) {
  return map(x, [](const T& value) { return value > T(0.0) ? value : T(0.0); });
}

template <typename T>
Matrix<T> gelu(const Matrix<T>& x, ops::GeluForm form) {
  using std::erf, std::tanh;
  return map(x, [&](const T& v) {
    const T half = T(0.5) * v;
    if (form == ops::GeluForm::exact) return half * (T(1.0) + erf(v / T(std::numbers::sqrt2)));
    const T inner = T(std::sqrt(2 / std::numbers::pi)) * (v + T(0.044715) * v * v * v);
    return half * (T(1.0) + tanh(inner));
  });
}

template <typename T>
Matrix<T> quick_gelu(const Matrix<T>& x) {
  using std::exp;
  return map(x, [](const T& value) { return value / (T(1.0) + exp(T(-1.702) * value)); });
}

template <typename T>
Matrix<T> silu(const Matrix<T>& x) {
  using std::exp;
  return map(x, [](const T& value) { return value / (T(1.0) + exp(-value)); });
}

template <typename T>
Matrix<T> softcap(const Matrix<T>& x, double cap) {
  using std::tanh;
  return map(x, [&](const T& value) { return T(cap) * tanh(value / T(cap)); });
}

template <typename T>
Matrix<T> swiglu(const Matrix<T>& gate, const Matrix<T>& values) {
  return multiply(silu(gate), values);
}

// ---- Products

template <typename T>
Matrix<T> transposed(const Matrix<T>& x) {
  Matrix<T> y(x.cols, x.rows);
  for (Index i = 0; i < x.rows; ++i) {
    for (Index j = 0; j < x.cols; ++j) y(j, i) = x(i, j);
  }
  return y;
}

template <typename T>
Matrix<T> matmul(const Matrix<T>& a, const Matrix<T>& b) {
  Matrix<T> c(a.rows, b.cols);
  for (Index i = 0; i < c.rows; ++i) {
    for (Index j = 0; j < c.cols; ++j) {
      for (Index k = 0; k < a.cols; ++k) c(i, j) += a(i, k) * b(k, j);
    }
  }
  return c;
}

// bias [1, O], or empty for none.
template <typename T>
Matrix<T> linear(const Matrix<T>& x, const Matrix<T>& weight, const Matrix<T>& bias) {
  Matrix<T> y = matmul(x, transposed(weight));
  if (bias.values.empty()) return y;
  for (Index i = 0; i < y.rows; ++i) {
    for (Index j = 0; j < y.cols; ++j) y(i, j) += bias.values[j];
  }
  return y;
}

// ---- Softmax

// The largest value of a row. As a constant: it shifts, and a shift has no gradient.
template <typename T>
double largest(const Matrix<T>& x, Index row) {
  double largest = -std::numeric_limits<double>::infinity();
  for (Index j = 0; j < x.cols; ++j) largest = std::max(largest, value_of(x(row, j)));
  return largest;
}

template <typename T>
Matrix<T> softmax(const Matrix<T>& x) {
  using std::exp;
  Matrix<T> y(x.rows, x.cols);
  for (Index i = 0; i < x.rows; ++i) {
    const double shift = largest(x, i);
    if (std::isinf(shift)) continue;  // everything is masked: zeros
    T total(0.0);
    for (Index j = 0; j < x.cols; ++j) total += y(i, j) = exp(x(i, j) - T(shift));
    for (Index j = 0; j < x.cols; ++j) y(i, j) = y(i, j) / total;
  }
  return y;
}

template <typename T>
Matrix<T> log_softmax(const Matrix<T>& x) {
  using std::exp, std::log;
  Matrix<T> y(x.rows, x.cols);
  for (Index i = 0; i < x.rows; ++i) {
    const T shift(largest(x, i));
    T total(0.0);
    for (Index j = 0; j < x.cols; ++j) total += exp(x(i, j) - shift);
    for (Index j = 0; j < x.cols; ++j) y(i, j) = x(i, j) - shift - log(total);
  }
  return y;
}

// ---- Norms

// bias [1, D], or empty for none.
template <typename T>
Matrix<T> layer_norm(const Matrix<T>& x, const Matrix<T>& gain, const Matrix<T>& bias,
                     double epsilon) {
  using std::sqrt;
  const T count(static_cast<double>(x.cols));
  Matrix<T> y(x.rows, x.cols);
  for (Index i = 0; i < x.rows; ++i) {
    T mean(0.0), variance(0.0);
    for (Index j = 0; j < x.cols; ++j) mean += x(i, j) / count;
    for (Index j = 0; j < x.cols; ++j) variance += (x(i, j) - mean) * (x(i, j) - mean) / count;
    const T deviation = sqrt(variance + T(epsilon));
    for (Index j = 0; j < x.cols; ++j) {
      y(i, j) = (x(i, j) - mean) / deviation * gain.values[j];
      if (!bias.values.empty()) y(i, j) += bias.values[j];
    }
  }
  return y;
}

template <typename T>
Matrix<T> rms_norm(const Matrix<T>& x, const Matrix<T>& gain, double epsilon) {
  using std::sqrt;
  const T count(static_cast<double>(x.cols));
  Matrix<T> y(x.rows, x.cols);
  for (Index i = 0; i < x.rows; ++i) {
    T mean_square(0.0);
    for (Index j = 0; j < x.cols; ++j) mean_square += x(i, j) * x(i, j) / count;
    const T size = sqrt(mean_square + T(epsilon));
    for (Index j = 0; j < x.cols; ++j) y(i, j) = x(i, j) / size * gain.values[j];
  }
  return y;
}

template <typename T>
Matrix<T> unit_vectors(const Matrix<T>& x, Index width) {
  using std::sqrt;
  Matrix<T> y(x.rows, x.cols);
  for (Index i = 0; i < x.rows; ++i) {
    for (Index begin = 0; begin < x.cols; begin += width) {
      T square(0.0);
      for (Index j = begin; j < begin + width; ++j) square += x(i, j) * x(i, j);
      if (value_of(square) == 0) continue;
      for (Index j = begin; j < begin + width; ++j) y(i, j) = x(i, j) / sqrt(square);
    }
  }
  return y;
}

// ---- Similarity

template <typename T>
Matrix<T> similarity(const Matrix<T>& a, const Matrix<T>& b, ops::Similarity kind) {
  if (kind == ops::Similarity::cosine) {
    return matmul(unit_vectors(a, a.cols), transposed(unit_vectors(b, b.cols)));
  }
  const double factor =
      kind == ops::Similarity::scaled_dot ? 1 / std::sqrt(static_cast<double>(a.cols)) : 1;
  return scale(matmul(a, transposed(b)), factor);
}

// ---- Rows and positions

template <typename T, typename Row>
Matrix<T> gather_rows(const Matrix<T>& table, std::span<const Row> rows) {
  Matrix<T> y(static_cast<Index>(rows.size()), table.cols);
  for (Index i = 0; i < y.rows; ++i) {
    for (Index j = 0; j < y.cols; ++j) y(i, j) = table(rows[i], j);
  }
  return y;
}

// The mean of each sequence's rows.
template <typename T>
Matrix<T> mean_rows(const Matrix<T>& x, const Spans& spans) {
  Matrix<T> y(spans.count(), x.cols);
  for (Index s = 0; s < spans.count(); ++s) {
    for (Index i = 0; i < spans[s].length; ++i) {
      for (Index j = 0; j < x.cols; ++j) y(s, j) += x(spans[s].begin + i, j);
    }
    for (Index j = 0; j < x.cols; ++j) y(s, j) = y(s, j) / T(static_cast<double>(spans[s].length));
  }
  return y;
}

template <typename T>
Matrix<T> max_rows(const Matrix<T>& x, const Spans& spans) {
  Matrix<T> y(spans.count(), x.cols);
  for (Index s = 0; s < spans.count(); ++s) {
    for (Index col = 0; col < x.cols; ++col) {
      Index best = spans[s].begin;
      for (Index i = 1; i < spans[s].length; ++i) {
        if (x(spans[s].begin + i, col) > x(best, col)) best = spans[s].begin + i;
      }
      y(s, col) = x(best, col);
    }
  }
  return y;
}

// The row [1, D] before the rows of every sequence.
template <typename T>
Matrix<T> prepend_row(const Matrix<T>& row, const Matrix<T>& x, const Spans& spans) {
  Matrix<T> y(x.rows + spans.count(), x.cols);
  Index to = 0;
  for (const Span& span : spans) {
    for (Index col = 0; col < x.cols; ++col) y(to, col) = row(0, col);
    ++to;
    for (Index i = 0; i < span.length; ++i, ++to) {
      for (Index col = 0; col < x.cols; ++col) y(to, col) = x(span.begin + i, col);
    }
  }
  return y;
}

template <typename T>
Matrix<T> embedding(const Matrix<T>& table, std::span<const int> ids, double factor) {
  return scale(gather_rows(table, ids), factor);
}

template <typename T>
Matrix<T> add_positions(const Matrix<T>& x, const Matrix<T>& table, const Spans& spans,
                        std::span<const Index> first_positions = {}) {
  Matrix<T> y = x;
  for (Index s = 0; s < spans.count(); ++s) {
    const Index first = first_positions.empty() ? 0 : first_positions[s];
    for (Index i = 0; i < spans[s].length; ++i) {
      for (Index j = 0; j < x.cols; ++j) y(spans[s].begin + i, j) += table(first + i, j);
    }
  }
  return y;
}

// cosines and sines [positions, rotary_dim / 2].
template <typename T>
Matrix<T> rotary(const Matrix<T>& x, const Matrix<double>& cosines, const Matrix<double>& sines,
                 std::span<const Index> positions, const ops::RotaryOptions& options) {
  const Index width = x.cols / options.num_heads;
  const Index half = (options.rotary_dim == 0 ? width : options.rotary_dim) / 2;
  Matrix<T> y = x;
  for (Index i = 0; i < x.rows; ++i) {
    for (Index head = 0; head < options.num_heads; ++head) {
      for (Index pair = 0; pair < half; ++pair) {
        const bool interleaved = options.pairs == ops::RotaryPairs::interleaved;
        const Index a = head * width + (interleaved ? 2 * pair : pair);
        const Index b = head * width + (interleaved ? 2 * pair + 1 : pair + half);
        const T cosine(cosines(positions[i], pair)), sine(sines(positions[i], pair));
        y(i, a) = x(i, a) * cosine - x(i, b) * sine;
        y(i, b) = x(i, a) * sine + x(i, b) * cosine;
      }
    }
  }
  return y;
}

}  // namespace heed::reference
