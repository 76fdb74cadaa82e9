"""What keeps a row from its target, according to the profiles behind docs/performance.md."""

TINY = ("products take 83% of one thread's samples on Zen 3, at 88% of peak; attention over sentences of 14 tokens 6%, "
        "the loss 2%, norms, dropout, packing and other small parts the rest; two threads wait for each other 3% of the time")
PRODUCTS_ALONE = ("measured alone, products of these shapes reach 90 to 97% of peak forward, 85 to 95% for the input "
                  "gradient and 84 to 89% for the weight gradient, which is summed over rows")
CACHE = "keys and values stay f32, which bounds the ratio to "

# The beginning of a row's title, and the remark printed while the row misses its target.
LIMITS = (
    ("training, tiny preset", TINY),
    ("the same; baseline: nn.Transformer", TINY),
    ("matrix products in training, tiny", TINY),
    ("training, base preset", PRODUCTS_ALONE),
    ("matrix products in training, base", PRODUCTS_ALONE),
    ("training, GPT-2-small shape", PRODUCTS_ALONE),
    ("attention forward + backward, full", "backward recomputes the scores: seven products where PyTorch, which keeps "
                                           "them, has six; their loops take four fifths of the time, at 98% of peak"),
    ("translation of test_2016_flickr, tiny, greedy", "products take 34% of the samples, the argmax 20%, attention "
                                                      "over the KV cache 13%, zeroing of new pages by the "
                                                      "kernel 11%"),
    ("single-sequence decoding", "products take 82% of the time, attention over the KV cache 11%, waiting for the other thread 5%; "
                              "the bandwidth itself varies between 30 and 60 GB/s within an hour"),
    ("decoding f16 / f32, GPT-2-small shape, 128 tokens after", CACHE + "1.85 where both are memory-bound"),
    ("decoding int8 / f32, GPT-2-small shape, 128 tokens after", CACHE + "3.2 where both are memory-bound; int8 arithmetic "
                                                                  "takes about as long, at 17.7 billion weights/s per thread"),
    ("decoding f16", "the memory is shared with other guests, and not equally fast for both"),
    ("decoding int8", "dequantizing sixteen weights takes 0.77 ns of arithmetic, two thirds of the time to read them from memory"),
    ("scaling of training time", "no growth was seen: which size is fastest changes from run to run with the machine"),
    ("two threads; baseline: one thread; training", "some 400 parallel regions per step, with serial parts between them"),
    ("two threads; baseline: one thread; translation", "not profiled; loading takes 1% of the time, on one thread"),
    ("cost per token, batches of mixed", "not explained; the rounds are within 0.9 and 1.3 of each other"),
)


def limit_of(work):
    return next((limit for beginning, limit in LIMITS if work.startswith(beginning)), "")
