// Watches one head of a translation model's encoder: which token attends to which?
// watch_head MODEL 'A bat lives in the cave.'
#include <heed/heed.h>

#include <iomanip>
#include <iostream>

using namespace heed;

class HeadWatcher : public nn::Watcher {
 public:
  explicit HeadWatcher(std::string layer) : layer_(std::move(layer)) {}
  ops::AttentionView* watch(std::string_view name) override {
    return name == layer_ ? &view : nullptr;
  }
  ops::AttentionView view;

 private:
  std::string layer_;
};

int main(int argc, char** argv) {
  if (argc != 3) {
    std::cerr << "usage: watch_head MODEL SENTENCE\n";
    return 2;
  }
  try {
    const auto [model, tokenizer, generation] =
        models::load_model_folder<models::TranslationModel>(argv[1]);
    const std::vector<std::vector<int>> sentences{tokenizer.encode(argv[2])};

    const NoGrad no_grad;
    HeadWatcher watcher("encoder.0.self_attention");
    auto context = nn::ForwardContext::inference(&watcher);
    model.encode(models::pack(sentences, {.append = text::own_tokens::end}), context);

    const Tensor& weights = watcher.view.weights[0];  // [heads, queries, keys]
    const Index length = weights.dim(1);
    std::cout << "head 0 of encoder.0.self_attention\n" << std::fixed << std::setprecision(2);
    for (Index query = 0; query < length; ++query) {
      for (Index key = 0; key < length; ++key)
        std::cout << weights.values()[query * length + key] << ' ';
      const bool is_end = query + 1 == length;
      std::cout << (is_end ? "</s>" : tokenizer.piece(sentences[0][query])) << '\n';
    }
  } catch (const Error& error) {
    std::cerr << "watch_head: " << error.what() << '\n';
    return exit_code(error.kind());
  }
}
