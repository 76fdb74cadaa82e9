// The options of inference on lines of text by an encoder.
#pragma once

#include "heed/base/index.h"

namespace heed::nn {
class AttentionHook;
}

namespace heed::infer {

struct LineOptions {
  Index batch_tokens = 2048;  // tokens in a batch
  Index first_line = 1;       // the number of the first line, for messages
  // Intervenes in the model's attention; null: the model as it is.
  const nn::AttentionHook* hook = nullptr;
};

}  // namespace heed::infer
