"""What keeps a row from its bar, as profiles showed when docs/performance.md was written."""

TINY = ("products take 83% of one thread's samples on Zen 3, at 88% of the peak; attention over sentences of 14 tokens takes 6%, "
        "the loss 2%, norms, dropout, packing and many small things the rest; two threads wait for each other 3% of the time")
PRODUCTS_ALONE = ("alone, the products of these shapes reach 90 to 97% of the peak forward, 85 to 95% for the gradient of the "
                  "input and 84 to 89% for that of the weight, which is summed over rows")
CACHE = "keys and values stay floats, which bounds the ratio to "

# The beginning of a row's work, and what is printed below it while it falls short.
LIMITS = (
    ("training, tiny preset", TINY),
    ("the same; rival: nn.Transformer", TINY),
    ("matrix work during training, tiny", TINY),
    ("training, base preset", PRODUCTS_ALONE),
    ("matrix work during training, base", PRODUCTS_ALONE),
    ("training, GPT-2-small shape", PRODUCTS_ALONE),
    ("attention forward + backward, full", "scores are made a second time on the way back: seven products where PyTorch, "
                                           "which keeps them, has six; their loops take four fifths of the time, at 98% "
                                           "of the peak"),
    ("translation of test_2016_flickr, tiny, greedy", "products take 34% of the samples, the largest logit 20%, "
                                                      "attention over the cache 13%, new memory, which the system "
                                                      "clears, 11%"),
    ("decoding one sequence", "products take 82% of the time, attention over the cache 11%, waiting for the other thread 5%; "
                              "the bandwidth itself moves between 30 and 60 GB/s within an hour"),
    ("decoding f16/float, GPT-2-small shape, 128 tokens after", CACHE + "1.85 where both are limited by memory"),
    ("decoding int8/float, GPT-2-small shape, 128 tokens after", CACHE + "3.2 where both are limited by memory; arithmetic takes "
                                                                 "int8 about as long, at 17.7 billion weights/s a thread"),
    ("decoding f16", "the memory is shared with other guests, and not equally quick for both"),
    ("decoding int8", "widening sixteen weights takes 0.77 ns of arithmetic, two thirds of the time that memory takes for them"),
    ("growth of training time", "no growth was seen: which size is the quick one changes from run to run with the machine"),
    ("two threads; rival: one thread; training", "some 400 parallel regions a step, with serial parts between them"),
    ("two threads; rival: one thread; translation", "not profiled; loading takes 1% of the time, on one thread"),
    ("cost of a token in batches of mixed", "not explained; the rounds lie between 0.9 and 1.3 of each other"),
)


def limit_of(work):
    return next((limit for beginning, limit in LIMITS if work.startswith(beginning)), "")
