#include "heed/train/one_text.h"

#include "heed/text/lines.h"
#include "heed/train/hash_lines.h"

namespace heed::train {

OneText read_one_text(const FilePaths& files, const std::string& role) {
  OneText text{text::read_lines(files.at(role)), std::nullopt};
  const std::string validation = path_of(files, "valid-" + role);
  if (!validation.empty()) text.validation = text::read_lines(validation);
  return text;
}

std::string OneTextMaker::data_hash() const {
  io::Sha256 hash;
  hash_lines(hash, text_.training);
  if (text_.validation) hash_lines(hash, *text_.validation);
  return hash.hex_digest();
}

}  // namespace heed::train
