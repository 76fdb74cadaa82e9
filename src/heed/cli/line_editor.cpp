#include "heed/cli/line_editor.h"

#include <histedit.h>

#include <clocale>
#include <cstdio>
#include <utility>

#include "heed/base/error.h"

namespace heed::cli {

namespace {

constexpr int lines_remembered = 1000;

}  // namespace

struct LineEditor::State {
  std::string prompt;
  EditLine* editor = nullptr;
  History* history = nullptr;
  HistEvent event{};

  ~State() {
    if (history) ::history_end(history);
    if (editor) ::el_end(editor);
  }
};

namespace {

const char* prompt_of(EditLine* editor) {
  void* state = nullptr;
  ::el_get(editor, EL_CLIENTDATA, &state);
  return static_cast<LineEditor::State*>(state)->prompt.c_str();
}

}  // namespace

LineEditor::LineEditor(std::string prompt) : state_(std::make_unique<State>()) {
  std::setlocale(LC_CTYPE, "");  // so that a key is a character, not a byte
  state_->prompt = std::move(prompt);
  state_->editor = ::el_init("heed", stdin, stderr, stderr);
  state_->history = ::history_init();
  check(state_->editor && state_->history, "terminal: cannot read lines from it");
  ::history(state_->history, &state_->event, H_SETSIZE, lines_remembered);
  ::el_set(state_->editor, EL_CLIENTDATA, state_.get());
  ::el_set(state_->editor, EL_PROMPT, prompt_of);
  ::el_set(state_->editor, EL_EDITOR, "emacs");
  ::el_set(state_->editor, EL_HIST, ::history, state_->history);
}

LineEditor::~LineEditor() = default;

std::optional<std::string> LineEditor::next() {
  int length = 0;
  const char* typed = ::el_gets(state_->editor, &length);
  if (typed == nullptr || length <= 0) return std::nullopt;
  std::string line(typed, static_cast<std::size_t>(length));
  if (!line.empty() && line.back() == '\n') line.pop_back();
  if (!line.empty()) ::history(state_->history, &state_->event, H_ENTER, line.c_str());
  return line;
}

}  // namespace heed::cli
