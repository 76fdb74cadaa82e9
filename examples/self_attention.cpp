// Self-attention without parameters, and the gradient of one number through it.
#include <heed/ops/attention.h>
#include <heed/ops/elementwise.h>

#include <iostream>

int main() {
  using namespace heed;
  Tensor words = Tensor::from({3, 3, 4, 0, 0, 5}, {3, 2});  // bat, cave, racket
  words.require_gradient();
  const Packed sentence{words, Spans::single(3)};

  ops::AttentionView view;
  const Tensor context = ops::attention(sentence, sentence, words, ops::AttentionMask::none(),
                                        {.similarity = ops::Similarity::cosine}, &view);
  for (const float weight : view.weights[0].values()) std::cout << weight << ' ';
  std::cout << '\n';

  backward(ops::sum(context));
  for (const float value : words.gradient().values()) std::cout << value << ' ';
  std::cout << '\n';
}
