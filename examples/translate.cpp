// Translates the lines of standard input with a trained model: translate MODEL < lines
#include <heed/heed.h>

#include <iostream>
#include <string>

int main(int argc, char** argv) {
  if (argc != 2) {
    std::cerr << "usage: translate MODEL < lines\n";
    return 2;
  }
  try {
    const auto translator = heed::infer::Translator::load(argv[1]);
    for (std::string line; std::getline(std::cin, line);) {
      std::cout << translator.translate(line) << '\n';
    }
  } catch (const heed::Error& error) {
    std::cerr << "translate: " << error.what() << '\n';
    return heed::exit_code(error.kind());
  }
}
