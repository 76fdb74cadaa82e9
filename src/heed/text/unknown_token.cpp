#include "heed/text/unknown_token.h"

#include "heed/base/error.h"
#include "heed/base/printable.h"

namespace heed::text {

UnknownToken::UnknownToken(const io::JsonFields& fields, const Vocabulary& vocabulary)
    : place_(fields.place("unk_token")), token_(fields.optional_text("unk_token")) {
  if (token_) id_ = vocabulary.find(*token_);
}

int UnknownToken::id() const {
  check_as(ErrorKind::model, id_.has_value(), place_,
           ": expected a piece of the vocabulary for text that is unknown, found ",
           token_ ? excerpt(*token_) : "none");
  return *id_;
}

}  // namespace heed::text
