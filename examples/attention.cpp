// Attention on your own arrays, and the gradient through it.
#include <heed/heed.h>

#include <iostream>
#include <vector>

int main() {
  using namespace heed;
  const std::vector<float> vectors{3, 3, 4, 0, 0, 5};  // bat, cave, racket
  Tensor words = Tensor::from(vectors, {3, 2});
  words.require_gradient();

  ops::AttentionView view;  // asks for the weights; without one they never exist as a whole
  const Tensor context =
      ops::attention(words, words, words, {.similarity = ops::Similarity::cosine}, &view);
  std::cout << "weights\n" << view.weights[0] << "\ncontext\n" << context << '\n';

  backward(ops::sum(context * context));
  std::cout << "gradient\n" << words.gradient() << '\n';

  // Two sequences of four tokens, eight heads of width 4, causal.
  Rng rng(1);
  const Tensor q = Tensor::randn({2, 4, 32}, rng), k = Tensor::randn({2, 4, 32}, rng);
  const Tensor y = ops::attention(q, k, k, {.num_heads = 8, .causal = true});
  std::cout << "heads " << y.shape() << '\n';
}
