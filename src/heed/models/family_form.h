// A model that Heed has trained, in the form of a family of Hugging Face: the same function of its
// input, by a network that the family has.
#pragma once

#include <span>
#include <vector>

#include "heed/models/transformer_config.h"
#include "heed/nn/module.h"

namespace heed::models {

// The configuration of the model in the first family that fits: Marian for translation; GPT-2,
// Llama or GPT-NeoX for language; BERT or ViT for the others. A family fits if its table writes the
// configuration and reads it back, after changes of form that keep the function:
// - embeddings times the square root of the width, where the family has no factor: a table of
//   larger numbers, and the output, if it was tied, a table of its own;
// - sinusoids that alternate, where the family has all sines first: the same dimensions of the
//   width in another order, in every matrix that reads or writes them;
// - sinusoids or no positions, where the family learns them: a table of max_positions rows;
// - biases, and vectors of token types, of zeros where the family has them;
// - SwiGLU as SiLU with a gate.
// Refuses (ErrorKind::model) all others: the message names the settings that the nearest family
// does not have.
TransformerConfig family_form(const TransformerConfig& config);

// The parameters of a model in the form that family_form made of its configuration.
std::vector<nn::NamedTensor> family_parameters(const TransformerConfig& config,
                                               const TransformerConfig& form,
                                               std::span<const nn::NamedTensor> parameters);

}  // namespace heed::models
