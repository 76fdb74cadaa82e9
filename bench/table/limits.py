"""What keeps a row from its bar, as profiles showed when docs/performance.md was written."""

TINY = ("products take 78% of one thread's time and reach 83% of its peak meanwhile; attention over sentences of 14 "
        "tokens, the loss, dropout and norms take the rest")
PRODUCTS_ALONE = "alone, the products of these shapes reach 73 to 90% of one core's peak, those of weight gradients least"
BASE = f"products take 86% of one thread's time; {PRODUCTS_ALONE}"

# The beginning of a row's work, and what is printed below it while it falls short.
LIMITS = (
    ("training, tiny preset", TINY),
    ("the same; rival: nn.Transformer", TINY),
    ("matrix work during training, tiny", TINY),
    ("training, base preset", BASE),
    ("matrix work during training, base", BASE),
    ("training, GPT-2-small shape", PRODUCTS_ALONE),
    ("attention forward + backward, full", "scores are made a second time on the way back: seven products where PyTorch, "
                                           "which keeps them, has six; they take three quarters of the time"),
    ("decoding one sequence", "products take 82% of the time, attention over the cache 11%; the bandwidth itself moved "
                              "between 22 and 33 GB/s"),
    ("growth of training time", "not explained; 1,000 sentences are the quick ones, 29,000 and 1,000,000 cost the same"),
    ("two threads; rival: one thread; training", "some 400 parallel regions a step, with serial parts between them"),
    ("two threads; rival: one thread; translation", "not profiled; loading takes 1% of the time, on one thread"),
)


def limit_of(work):
    return next((limit for beginning, limit in LIMITS if work.startswith(beginning)), "")
