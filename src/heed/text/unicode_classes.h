// Classes of characters as the tables of tokenizer.json's own library have them: those of Unicode,
// in the versions that its parts were made from.
#pragma once

namespace heed::text {

bool is_white_space(char32_t c);
bool is_word_character(char32_t c);   // \w
bool is_punctuation(char32_t c);      // ASCII punctuation and \p{P}
bool is_numeric(char32_t c);          // \p{N}
bool is_mark(char32_t c);             // \p{M}
bool is_nonspacing_mark(char32_t c);  // \p{Mn}, as BERT's normalizer sees it
bool is_bert_control(char32_t c);     // what BERT's normalizer removes from a text
bool is_chinese(char32_t c);          // what BERT's normalizer puts spaces beside

char32_t simple_lower_case(char32_t c);  // of all but U+0130

// Calls put(code point) for each code point of the lower case: two for U+0130, one for all others.
template <typename Put>
void lower_case(char32_t c, Put&& put) {
  constexpr char32_t capital_i_with_dot = 0x130, dot_above = 0x307;
  if (c != capital_i_with_dot) return put(simple_lower_case(c));
  put(U'i');
  put(dot_above);
}

}  // namespace heed::text
