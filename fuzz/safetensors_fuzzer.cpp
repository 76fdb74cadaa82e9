// Any bytes as a safetensors file, and every tensor of it as numbers.
#include "harness.h"
#include "heed/io/safetensors.h"

using namespace heed;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  return fuzz::test(ErrorKind::model, data, size, [](std::string_view input) {
    const auto file = io::SafetensorsFile::parse(std::string(input), "file");
    std::size_t num_bytes = 0;
    for (const io::TensorRecord& record : file.tensors()) {
      num_bytes += record.bytes.size();
      fuzz::require(file.require(record.name).bytes.data() == record.bytes.data(),
                    "every tensor to be found by its name");
    }
    fuzz::require(num_bytes <= input.size(), "tensors within the file");
    for (const io::TensorRecord& record : file.tensors()) {
      if (record.dtype >= io::DType::f16) {
        file.to_floats(record);
      } else {
        file.to_integers(record);
      }
    }
  });
}
