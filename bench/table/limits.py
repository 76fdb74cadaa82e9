"""What keeps a row from its bar, as profiles showed when the page docs/performance.md was written."""

# The beginning of a row's work, and what is printed below it while it falls short.
LIMITS = (
    ("training, tiny preset", "matrix products take 78% of the time, at 83% of the peak of one core; attention over "
                              "sentences of 14 tokens, the loss, dropout and norms take the rest"),
    ("the same; rival: nn.Transformer", "as above"),
    ("matrix work during training, tiny", "as above; two threads share the memory and wait for each other in some 400 "
                                          "parallel regions a step"),
    ("two threads; rival: one thread; training", "some 400 parallel regions a step, with short serial parts between"),
)


def limit_of(work):
    return next((limit for beginning, limit in LIMITS if work.startswith(beginning)), "")
