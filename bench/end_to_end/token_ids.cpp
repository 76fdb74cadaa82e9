// Tokenizer for the baselines: lines to token ids, or token ids to lines.
//
//   token_ids encode|decode MODEL
#include <iostream>
#include <sstream>
#include <string>
#include <vector>

#include "heed/text/tokenizer.h"

namespace heed {
namespace {

void encode(const text::Tokenizer& tokenizer) {
  for (std::string line; std::getline(std::cin, line);) {
    for (const int id : tokenizer.encode(line)) std::cout << id << ' ';
    std::cout << '\n';
  }
}

void decode(const text::Tokenizer& tokenizer) {
  for (std::string line; std::getline(std::cin, line);) {
    std::istringstream numbers(line);
    std::vector<int> ids;
    for (int id; numbers >> id;) ids.push_back(id);
    std::cout << tokenizer.decode(ids) << '\n';
  }
}

}  // namespace
}  // namespace heed

int main(int argc, char** argv) {
  const std::vector<std::string> args(argv + 1, argv + argc);
  if (args.size() != 2 || (args[0] != "encode" && args[0] != "decode")) {
    std::cerr << "usage: token_ids encode|decode MODEL\n";
    return 2;
  }
  try {
    const auto tokenizer = heed::text::Tokenizer::load(args[1] + "/tokenizer.model");
    args[0] == "encode" ? heed::encode(tokenizer) : heed::decode(tokenizer);
  } catch (const std::exception& error) {
    std::cerr << "token_ids: " << error.what() << '\n';
    return 1;
  }
  return 0;
}
