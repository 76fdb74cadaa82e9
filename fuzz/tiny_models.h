// Tiny models for harnesses.
#pragma once

#include "harness.h"
#include "reliability/tiny_models.h"

extern "C" int LLVMFuzzerInitialize(int*, char***) {
  return heed::fuzz::prepare([] { heed::tiny_tokenizer(); });
}
