#include "heed/data/prompt_corpus.h"

#include "heed/base/error.h"
#include "heed/text/encode_lines.h"
#include "heed/text/lines.h"

namespace heed::data {

PromptCorpus PromptCorpus::tokenize(std::span<const std::string> prompts,
                                    std::span<const std::string> answers,
                                    const text::Tokenizer& tokenizer, Index max_length) {
  check_as(ErrorKind::data, prompts.size() == answers.size(),
           "corpus: expected as many answers as prompts, found ", answers.size(), " and ",
           prompts.size());
  auto prompt_ids = text::encode_lines(prompts, tokenizer, text::LineForm::prompt);
  const auto answer_ids = text::encode_lines(answers, tokenizer, text::LineForm::output);
  PromptCorpus corpus;
  std::vector<Index> prompt_lengths, answer_lengths, lengths;
  for (std::size_t i = 0; i < prompts.size(); ++i) {
    std::vector<int>& ids = prompt_ids[i];
    if (text::is_blank(prompts[i]) || text::is_blank(answers[i]) || ids.empty() ||
        answer_ids[i].empty()) {
      ++corpus.num_blank_;
      continue;
    }
    prompt_lengths.push_back(std::ssize(ids));
    answer_lengths.push_back(std::ssize(answer_ids[i]));
    lengths.push_back(prompt_lengths.back() + answer_lengths.back());
    if (lengths.back() > max_length) {
      ++corpus.num_too_long_;
      continue;
    }
    ids.insert(ids.end(), answer_ids[i].begin(), answer_ids[i].end());
    corpus.examples_.push_back(std::move(ids));
    corpus.prompt_lengths_of_.push_back(prompt_lengths.back());
    corpus.sizes_.push_back({.source = lengths.back() - 1, .target = 0});
    corpus.lines_.push_back(static_cast<Index>(i));
  }
  check_as(ErrorKind::data, corpus.size() > 0,
           "corpus: expected prompts with answers, found none that can be used among ",
           prompts.size(), " (", corpus.num_blank_, " blank, ", corpus.num_too_long_,
           " longer than ", max_length, " tokens)");
  corpus.prompt_lengths_ = summarize_lengths(std::move(prompt_lengths));
  corpus.answer_lengths_ = summarize_lengths(std::move(answer_lengths));
  corpus.lengths_ = summarize_lengths(std::move(lengths));
  return corpus;
}

}  // namespace heed::data
