// Continues a prompt with a language model and prints the text as it is generated:
// generate MODEL 'ROMEO:'
#include <heed/heed.h>

#include <iostream>
#include <string_view>

int main(int argc, char** argv) {
  if (argc != 3) {
    std::cerr << "usage: generate MODEL PROMPT\n";
    return 2;
  }
  try {
    const auto generator = heed::infer::TextGenerator::load(argv[1]);
    std::cout << argv[2];
    generator.generate(argv[2],
                       {.sampling = {.temperature = 0.8f, .top_p = 0.95f}, .max_tokens = 100},
                       [](std::string_view part) { std::cout << part << std::flush; });
    std::cout << '\n';
  } catch (const heed::Error& error) {
    std::cerr << "generate: " << error.what() << '\n';
    return heed::exit_code(error.kind());
  }
}
