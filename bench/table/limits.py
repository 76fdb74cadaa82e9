"""What keeps a row from its bar, as profiles showed when docs/performance.md was written."""

TINY = ("products take 78% of one thread's time and reach nine tenths of its peak meanwhile; attention over sentences of 14 "
        "tokens takes 9%, packing, the loss, dropout and norms the rest; and one program's runs lie 20% apart on this machine")
PRODUCTS_ALONE = "alone, the products of these shapes reach 77 to 94% of one core's peak, those of weight gradients least"

# The beginning of a row's work, and what is printed below it while it falls short.
LIMITS = (
    ("training, tiny preset", TINY),
    ("the same; rival: nn.Transformer", TINY),
    ("matrix work during training, tiny", TINY),
    ("training, base preset", PRODUCTS_ALONE),
    ("matrix work during training, base", PRODUCTS_ALONE),
    ("training, GPT-2-small shape", PRODUCTS_ALONE),
    ("attention forward + backward, full", "scores are made a second time on the way back: seven products where PyTorch, "
                                           "which keeps them, has six; they take three quarters of the time"),
    ("translation of test_2016_flickr, tiny, greedy", "not profiled"),
    ("decoding one sequence", "products take 82% of the time, attention over the cache 11% (Zen 3); the bandwidth itself "
                              "moves by a third from run to run"),
    ("growth of training time", "no growth was seen: which size is the quick one changes from run to run with the machine"),
    ("two threads; rival: one thread; training", "some 400 parallel regions a step, with serial parts between them"),
    ("two threads; rival: one thread; translation", "not profiled; loading takes 1% of the time, on one thread"),
    ("cost of a token in batches of mixed", "not explained; the rounds lie between 0.9 and 1.3 of each other"),
)


def limit_of(work):
    return next((limit for beginning, limit in LIMITS if work.startswith(beginning)), "")
