"""The encoder-decoder Transformer in PyTorch, hand-tuned for CPUs: the baseline of Heed.

Post-norm, sinusoidal positions or RoPE, one embedding for source, target and output. Projection
and loss fused in chunks, dropout masks from random bytes, one flat Adam, one product for query, key and
value, and scaled_dot_product_attention where this torch has it. `StockModel` is the same network from
torch.nn.Transformer, as in its documentation.
"""
import math

import torch
import torch.nn as nn
import torch.nn.functional as F

PAD, END = 0, 3
LONGEST = 512
HAS_FUSED_ATTENTION = hasattr(F, "scaled_dot_product_attention")


def pad(sequences):
    longest = max(map(len, sequences))
    return torch.tensor([s + [PAD] * (longest - len(s)) for s in sequences])


def sinusoids(length, dim):
    """Sines in the even columns and cosines in the odd ones, of position / 10000^(2i / dim)."""
    angles = torch.arange(length).float()[:, None] \
        * torch.exp(torch.arange(0, dim, 2) * (-math.log(10000) / dim))[None]
    return torch.stack([angles.sin(), angles.cos()], -1).view(length, dim)


def rotations(length, dim):
    """cos and sin of position / 10000^(2i / dim), [length, dim]: the two halves of a vector rotate together."""
    angles = torch.arange(length)[:, None] / 10000 ** (torch.arange(0, dim, 2)[None, :] / dim)
    return angles.cos().repeat(1, 2), torch.cat([-angles.sin(), angles.sin()], 1)


def causal_mask(length):
    return torch.triu(torch.full((length, length), float("-inf")), 1)


class ProjectionLoss(torch.autograd.Function):
    """Output projection and label-smoothed cross-entropy, in chunks of rows; the gradient of the logits
    is computed in place in the forward pass, so tokens x vocabulary never exist at once."""
    @staticmethod
    def forward(ctx, x, weight, targets, smoothing, chunk):
        vocabulary = weight.size(0)
        dx = torch.empty_like(x)
        dweight = torch.zeros_like(weight)
        likelihood_loss = x.new_zeros(())
        logsumexps = x.new_zeros(())
        weight_sum, x_sum = weight.sum(0), x.sum(0)
        buffer = x.new_empty(min(chunk, x.size(0)), vocabulary)
        for begin in range(0, x.size(0), chunk):
            rows, wanted = x[begin:begin + chunk], targets[begin:begin + chunk, None]
            z = buffer[:len(wanted)]
            torch.mm(rows, weight.t(), out=z)
            at_target = z.gather(1, wanted)
            torch.softmax(z, -1, out=z)
            surprise = -z.gather(1, wanted).clamp_min_(1e-30).log_()
            likelihood_loss += surprise.sum()
            logsumexps += (at_target + surprise).sum()
            z.scatter_add_(1, wanted, z.new_full((len(wanted), 1), -(1 - smoothing)))
            torch.mm(z, weight, out=dx[begin:begin + chunk])
            dweight.addmm_(z.t(), rows)
        # The smoothed part of the target enters as rank-one corrections.
        dx.sub_(weight_sum * (smoothing / vocabulary))
        dweight.sub_(x_sum * (smoothing / vocabulary))
        ctx.save_for_backward(dx, dweight)
        return (1 - smoothing) * likelihood_loss + smoothing * logsumexps \
            - (smoothing / vocabulary) * x_sum.dot(weight_sum)

    @staticmethod
    def backward(ctx, dloss):
        dx, dweight = ctx.saved_tensors
        return dx * dloss, dweight * dloss, None, None, None


def dropout(x, probability, is_training):
    """F.dropout spends most of its time in a serial bernoulli_(); here each 64-bit random number gives
    8 bytes of the mask, with the probability rounded to a multiple of 1/256."""
    if not is_training or probability == 0:
        return x
    count, threshold = x.numel(), round(probability * 256)
    numbers = torch.empty((count + 7) // 8, dtype=torch.int64).random_(-2 ** 63, None)
    is_kept = numbers.view(torch.uint8)[:count].view(x.shape) >= threshold
    return x * is_kept.float().mul_(256 / (256 - threshold))


def attend(q, k, v, mask):
    """[B, H, L, K] each; mask is added to the scores, or None."""
    if HAS_FUSED_ATTENTION:
        return F.scaled_dot_product_attention(q, k, v, attn_mask=mask)
    scores = torch.matmul(q * q.size(-1) ** -0.5, k.transpose(-1, -2))
    if mask is not None:
        scores = scores + mask
    return torch.matmul(F.softmax(scores, -1), v)


class Attention(nn.Module):
    def __init__(self, dim, num_heads):
        super().__init__()
        self.num_heads, self.dim = num_heads, dim
        self.rotations = None  # cos and sin, for self-attention with RoPE
        self.weight = nn.Parameter(torch.empty(3 * dim, dim))  # query, key, value
        self.bias = nn.Parameter(torch.zeros(3 * dim))
        for part in self.weight.data.split(dim):
            nn.init.xavier_uniform_(part, gain=2 ** -0.5)
        self.output = nn.Linear(dim, dim)
        nn.init.xavier_uniform_(self.output.weight)
        nn.init.zeros_(self.output.bias)

    def split_heads(self, x):
        return x.view(x.size(0), x.size(1), self.num_heads, -1).transpose(1, 2)

    def query_key_value(self, x, at=0):
        """RoPE for positions from `at` on."""
        q, k, v = map(self.split_heads, F.linear(x, self.weight, self.bias).split(self.dim, -1))
        return self.rotate(q, at), self.rotate(k, at), v

    def rotate(self, x, at):
        if self.rotations is None:
            return x
        cos, sin = (table[at:at + x.size(2)] for table in self.rotations)
        return x * cos + x.roll(x.size(-1) // 2, -1) * sin

    def query(self, x):
        return self.split_heads(F.linear(x, self.weight[:self.dim], self.bias[:self.dim]))

    def key_value(self, memory):
        both = F.linear(memory, self.weight[self.dim:], self.bias[self.dim:])
        return tuple(map(self.split_heads, both.split(self.dim, -1)))

    def forward(self, x, memory, mask):
        """x [B, L, D]; memory [B, S, D], or None for x itself."""
        q, k, v = self.query_key_value(x) if memory is None else (self.query(x), *self.key_value(memory))
        mixed = attend(q, k, v, mask)
        return self.output(mixed.transpose(1, 2).reshape(x.shape))


class Layer(nn.Module):
    def __init__(self, dim, feed_forward_dim, num_heads, probability, has_cross_attention):
        super().__init__()
        self.self_attention = Attention(dim, num_heads)
        self.self_attention_norm = nn.LayerNorm(dim)
        if has_cross_attention:
            self.cross_attention = Attention(dim, num_heads)
            self.cross_attention_norm = nn.LayerNorm(dim)
        self.hidden, self.output = nn.Linear(dim, feed_forward_dim), nn.Linear(feed_forward_dim, dim)
        for linear in (self.hidden, self.output):
            nn.init.xavier_uniform_(linear.weight)
            nn.init.zeros_(linear.bias)
        self.feed_forward_norm = nn.LayerNorm(dim)
        self.probability = probability

    def drop(self, x):
        return dropout(x, self.probability, self.training)

    def feed_forward(self, x):
        return self.output(F.relu(self.hidden(x)))

    def forward(self, x, mask, memory=None, memory_mask=None):
        x = self.self_attention_norm(x + self.drop(self.self_attention(x, None, mask)))
        if memory is not None:
            x = self.cross_attention_norm(x + self.drop(self.cross_attention(x, memory, memory_mask)))
        return self.feed_forward_norm(x + self.drop(self.feed_forward(x)))


class TunedModel(nn.Module):
    def __init__(self, vocabulary, dim, feed_forward_dim, num_heads, num_layers, probability, is_rotary=False):
        super().__init__()
        self.dim, self.num_heads, self.vocabulary = dim, num_heads, vocabulary
        self.probability, self.is_rotary = probability, is_rotary
        self.embedding = nn.Embedding(vocabulary, dim, padding_idx=PAD)
        nn.init.normal_(self.embedding.weight, std=dim ** -0.5)
        nn.init.zeros_(self.embedding.weight.data[PAD])
        self.register_buffer("positions", sinusoids(LONGEST, dim), persistent=False)
        self.register_buffer("causal", causal_mask(LONGEST), persistent=False)
        sizes = (dim, feed_forward_dim, num_heads, probability)
        self.encoder = nn.ModuleList(Layer(*sizes, False) for _ in range(num_layers))
        self.decoder = nn.ModuleList(Layer(*sizes, True) for _ in range(num_layers))
        if is_rotary:
            for layer in (*self.encoder, *self.decoder):
                layer.self_attention.rotations = rotations(LONGEST, dim // num_heads)

    def embed(self, ids, at=0):
        x = self.embedding(ids) * math.sqrt(self.dim)
        if not self.is_rotary:
            x = x + self.positions[at:at + ids.size(1)]
        return dropout(x, self.probability, self.training)

    def encode(self, source):
        """[B, S] ids -> [B, S, D], and the padding mask, if there is padding."""
        is_padding = source.eq(PAD)
        mask = None
        if is_padding.any():
            mask = torch.zeros(source.shape).masked_fill_(is_padding, float("-inf"))[:, None, None, :]
        x = self.embed(source)
        for layer in self.encoder:
            x = layer(x, mask)
        return x, mask

    def loss(self, source, target_input, target_output, smoothing=0.1, chunk=512):
        """The loss summed over the target tokens."""
        memory, mask = self.encode(source)
        x = self.embed(target_input)
        length = target_input.size(1)
        for layer in self.decoder:
            x = layer(x, self.causal[:length, :length], memory, mask)
        x, targets = without_padding(x, target_output)
        return ProjectionLoss.apply(x, self.embedding.weight, targets, smoothing, chunk)


def without_padding(x, targets):
    x, targets = x.reshape(-1, x.size(-1)), targets.reshape(-1)
    if not targets.eq(PAD).any():
        return x, targets
    kept = targets.ne(PAD).nonzero().squeeze(1)
    return x.index_select(0, kept), targets[kept]


class StockModel(nn.Module):
    def __init__(self, vocabulary, dim, feed_forward_dim, num_heads, num_layers, probability):
        super().__init__()
        self.dim, self.probability = dim, probability
        self.embedding = nn.Embedding(vocabulary, dim, padding_idx=PAD)
        nn.init.normal_(self.embedding.weight, std=dim ** -0.5)
        self.register_buffer("positions", sinusoids(LONGEST, dim))
        self.register_buffer("causal", causal_mask(LONGEST))
        self.transformer = nn.Transformer(dim, num_heads, num_layers, num_layers, feed_forward_dim,
                                          probability, batch_first=True)

    def embed(self, ids):
        x = self.embedding(ids) * math.sqrt(self.dim) + self.positions[:ids.size(1)]
        return F.dropout(x, self.probability, self.training)

    def loss(self, source, target_input, target_output, smoothing=0.1):
        length = target_input.size(1)
        is_padding = source.eq(PAD)
        x = self.transformer(self.embed(source), self.embed(target_input),
                             tgt_mask=self.causal[:length, :length], src_key_padding_mask=is_padding,
                             memory_key_padding_mask=is_padding)
        x, targets = without_padding(x, target_output)
        return F.cross_entropy(F.linear(x, self.embedding.weight), targets, label_smoothing=smoothing,
                               reduction="sum")
