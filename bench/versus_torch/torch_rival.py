#!/usr/bin/env python3
"""The PyTorch rival: the tiny Transformer of Wu and others (ACL 2021), tuned by hand for this processor.

Projection and loss fused in chunks, dropout masks from random bytes, one flat Adam, and
scaled_dot_product_attention where this torch has it; `--model stock` is the same network from
torch.nn.Transformer, as its documentation shows it.

  torch_rival.py batches WORK              chooses the batches: WORK/train.ids -> WORK/batches.txt
  torch_rival.py run WORK [--repetitions]  trains over them; prints target tokens a second
"""
import argparse
import math
import os
import random
import sys
import time

import torch
import torch.nn as nn
import torch.nn.functional as F

PAD, UNK, BOS, EOS = 0, 1, 2, 3


def read_ids(work):
    src, tgt = [], []
    with open(os.path.join(work, "train.ids")) as lines:
        for line in lines:
            s, t = line.rstrip("\n").split("\t")
            src.append([int(i) for i in s.split()] + [EOS])
            tgt.append([int(i) for i in t.split()])
    return src, tgt


def make_batches(src, tgt, max_tokens, rng=None, mult=8):
    """Length-bucketed batches: n_sentences * longest side <= max_tokens (as fairseq)."""
    idx = list(range(len(src)))
    if rng:
        rng.shuffle(idx)
    idx.sort(key=lambda i: len(src[i]))               # stable: random inside equal keys
    idx.sort(key=lambda i: len(tgt[i]))
    out, cur, longest = [], [], 0
    for i in idx:
        n = max(len(src[i]), len(tgt[i]) + 1)
        if cur and max(longest, n) * (len(cur) + 1) > max_tokens:
            k = len(cur) if len(cur) < mult else len(cur) - len(cur) % mult
            out.append(cur[:k])
            cur = cur[k:]
            longest = max([max(len(src[j]), len(tgt[j]) + 1) for j in cur], default=0)
        cur.append(i)
        longest = max(longest, n)
    if cur:
        out.append(cur)
    if rng:
        rng.shuffle(out)
    return out


def pad(seqs):
    m = max(map(len, seqs))
    return torch.tensor([s + [PAD] * (m - len(s)) for s in seqs])


def collate(src, tgt, ids):
    return (pad([src[i] for i in ids]),
            pad([[EOS] + tgt[i] for i in ids]),       # fairseq feeds </s> as first input
            pad([tgt[i] + [EOS] for i in ids]))


def sinusoid(n, d):
    half = d // 2
    f = torch.exp(torch.arange(half) * -(math.log(10000) / (half - 1)))
    x = torch.arange(n).float()[:, None] * f[None]
    return torch.cat([x.sin(), x.cos()], 1)


class FusedLoss(torch.autograd.Function):
    """Output projection + label-smoothed cross-entropy, in row chunks, the gradient of the
    logits made in place in the forward pass (never holds tokens x vocab at once)."""
    @staticmethod
    def forward(ctx, x, w, y, eps, chunk):
        V = w.size(0)
        dx = torch.empty_like(x)
        dw = torch.zeros_like(w)
        nll = x.new_zeros(())
        lse = x.new_zeros(())
        wsum, xsum = w.sum(0), x.sum(0)
        buf = x.new_empty(min(chunk, x.size(0)), V)
        for s in range(0, x.size(0), chunk):
            xs, ys = x[s:s + chunk], y[s:s + chunk, None]
            z = buf[:len(ys)]
            torch.mm(xs, w.t(), out=z)
            zy = z.gather(1, ys)
            torch.softmax(z, -1, out=z)
            n = -z.gather(1, ys).clamp_min_(1e-30).log_()     # -log p(y)
            nll += n.sum()
            lse += (zy + n).sum()
            z.scatter_add_(1, ys, z.new_full((len(ys), 1), -(1 - eps)))
            torch.mm(z, w, out=dx[s:s + chunk])
            dw.addmm_(z.t(), xs)
        # the uniform eps/V part of the target enters as rank-one corrections
        dx.sub_(wsum * (eps / V))
        dw.sub_(xsum * (eps / V))
        loss = (1 - eps) * nll + eps * lse - (eps / V) * xsum.dot(wsum)
        ctx.save_for_backward(dx, dw)
        ctx.mark_non_differentiable(nll)
        return loss, nll

    @staticmethod
    def backward(ctx, gl, _):
        dx, dw = ctx.saved_tensors
        return dx * gl, dw * gl, None, None, None


DROP = "bytes"


def dropout(x, p, training):
    """F.dropout spends most of its time in a serial bernoulli_(); "bytes" draws 8 mask bytes
    from each 64-bit random number instead (p rounded to a multiple of 1/256)."""
    if not training or p == 0:
        return x
    if DROP != "bytes":
        return F.dropout(x, p, True)
    n, thr = x.numel(), round(p * 256)
    r = torch.empty((n + 7) // 8, dtype=torch.int64).random_(-2 ** 63, None)
    m = (r.view(torch.uint8)[:n].view(x.shape) >= thr).float().mul_(256 / (256 - thr))
    return x * m


class Attention(nn.Module):
    def __init__(self, d, h, self_attn, impl):
        super().__init__()
        self.h, self.dh, self.self_attn, self.impl = h, d // h, self_attn, impl
        self.w = nn.Parameter(torch.empty(3 * d, d))
        self.b = nn.Parameter(torch.zeros(3 * d))
        for i in range(3):                              # as fairseq: gain 1/sqrt(2) for q,k,v
            nn.init.xavier_uniform_(self.w.data[i * d:(i + 1) * d], gain=2 ** -0.5)
        self.o = nn.Linear(d, d)
        nn.init.xavier_uniform_(self.o.weight)
        nn.init.zeros_(self.o.bias)

    def split(self, x):
        return x.view(x.size(0), x.size(1), self.h, self.dh).transpose(1, 2)

    def qkv(self, x):
        d = x.size(-1)
        q, k, v = F.linear(x, self.w, self.b).split(d, -1)
        return self.split(q), self.split(k), self.split(v)

    def q_only(self, x):
        d = x.size(-1)
        return self.split(F.linear(x, self.w[:d], self.b[:d]))

    def kv(self, m):
        d = m.size(-1)
        k, v = F.linear(m, self.w[d:], self.b[d:]).split(d, -1)
        return self.split(k), self.split(v)

    def forward(self, x, mem, mask, causal=False):
        """mask: additive float, broadcastable to (B,1,Lq,Lk), or None."""
        if self.impl == "torch":                        # F.multi_head_attention_forward
            xt = x.transpose(0, 1)
            mt = xt if mem is None else mem.transpose(0, 1)
            B, H = x.size(0), self.h
            m = None if mask is None else mask.expand(B, H, x.size(1), mt.size(0)).reshape(
                B * H, x.size(1), mt.size(0))
            y, _ = F.multi_head_attention_forward(
                xt, mt, mt, x.size(-1), H, self.w, self.b, None, None, False, 0.0,
                self.o.weight, self.o.bias, training=self.training, need_weights=False,
                attn_mask=m)
            return y.transpose(0, 1)
        if mem is None:
            q, k, v = self.qkv(x)
        else:
            q = self.q_only(x)
            k, v = self.kv(mem)
        B, H, L, dh = q.shape
        if self.impl == "sdpa":
            y = F.scaled_dot_product_attention(q, k, v, attn_mask=mask)
        else:
            s = torch.matmul(q * dh ** -0.5, k.transpose(-1, -2))
            if mask is not None:
                s = s + mask
            y = torch.matmul(F.softmax(s, -1), v)
        return self.o(y.transpose(1, 2).reshape(B, L, H * dh))


class Layer(nn.Module):
    def __init__(self, d, ff, h, drop, cross, impl):
        super().__init__()
        self.sa = Attention(d, h, True, impl)
        self.n1 = nn.LayerNorm(d)
        if cross:
            self.ca = Attention(d, h, False, impl)
            self.nc = nn.LayerNorm(d)
        self.f1, self.f2 = nn.Linear(d, ff), nn.Linear(ff, d)
        for l in (self.f1, self.f2):
            nn.init.xavier_uniform_(l.weight)
            nn.init.zeros_(l.bias)
        self.n2 = nn.LayerNorm(d)
        self.p = drop
        self.cross = cross

    def drop(self, x):
        return dropout(x, self.p, self.training)

    def ffn(self, x):
        return self.f2(F.relu(self.f1(x)))

    def forward(self, x, smask, mem=None, cmask=None):
        x = self.n1(x + self.drop(self.sa(x, None, smask)))
        if self.cross:
            x = self.nc(x + self.drop(self.ca(x, mem, cmask)))
        return self.n2(x + self.drop(self.ffn(x)))


class Model(nn.Module):
    def __init__(self, vocab, d=128, ff=256, h=4, nl=4, drop=0.3, impl="manual"):
        super().__init__()
        self.d, self.h, self.p, self.V = d, h, drop, vocab
        self.emb = nn.Embedding(vocab, d, padding_idx=PAD)
        nn.init.normal_(self.emb.weight, std=d ** -0.5)
        nn.init.zeros_(self.emb.weight.data[PAD])
        self.register_buffer("pos", sinusoid(512, d), persistent=False)
        self.enc = nn.ModuleList(Layer(d, ff, h, drop, False, impl) for _ in range(nl))
        self.dec = nn.ModuleList(Layer(d, ff, h, drop, True, impl) for _ in range(nl))
        self.register_buffer("tri", torch.triu(torch.full((512, 512), float("-inf")), 1),
                             persistent=False)

    def embed(self, ids, at=0):
        x = self.emb(ids) * math.sqrt(self.d) + self.pos[at:at + ids.size(1)]
        return dropout(x, self.p, self.training)

    def pmask(self, src):
        m = src.eq(PAD)
        if not m.any():
            return None
        return torch.zeros(src.shape).masked_fill_(m, float("-inf"))[:, None, None, :]

    def encode(self, src):
        m = self.pmask(src)
        x = self.embed(src)
        for l in self.enc:
            x = l(x, m)
        return x, m

    def features(self, src, tin):
        mem, m = self.encode(src)
        x = self.embed(tin)
        L = tin.size(1)
        t = self.tri[:L, :L]
        for l in self.dec:
            x = l(x, t, mem, m)
        return x

    def loss(self, src, tin, tout, eps, kind="fused", chunk=512):
        """Sum over real target tokens: (label-smoothed loss, plain nll)."""
        x = self.features(src, tin).reshape(-1, self.d)
        y = tout.reshape(-1)
        if y.eq(PAD).any():                             # no projection of padding
            keep = y.ne(PAD).nonzero().squeeze(1)
            x, y = x.index_select(0, keep), y[keep]
        if kind == "fused":
            return FusedLoss.apply(x, self.emb.weight, y, eps, chunk)
        logits = F.linear(x, self.emb.weight)
        l = F.cross_entropy(logits, y, label_smoothing=eps, reduction="sum")
        return l, l.detach()


class StockModel(nn.Module):
    """The same network from torch.nn.Transformer modules (nn.TransformerEncoder/Decoder)."""
    def __init__(self, vocab, d=128, ff=256, h=4, nl=4, drop=0.3):
        super().__init__()
        self.d, self.p = d, drop
        self.emb = nn.Embedding(vocab, d, padding_idx=PAD)
        nn.init.normal_(self.emb.weight, std=d ** -0.5)
        self.register_buffer("pos", sinusoid(512, d))
        self.tr = nn.Transformer(d, h, nl, nl, ff, drop, batch_first=True)
        self.register_buffer("tri", torch.triu(torch.full((512, 512), float("-inf")), 1))

    def embed(self, ids):
        return F.dropout(self.emb(ids) * math.sqrt(self.d) + self.pos[:ids.size(1)],
                         self.p, self.training)

    def loss(self, src, tin, tout, eps, kind="fused", chunk=512):
        L = tin.size(1)
        m = src.eq(PAD)
        x = self.tr(self.embed(src), self.embed(tin), tgt_mask=self.tri[:L, :L],
                    src_key_padding_mask=m, memory_key_padding_mask=m).reshape(-1, self.d)
        y = tout.reshape(-1)
        keep = y.ne(PAD).nonzero().squeeze(1)
        x, y = x.index_select(0, keep), y[keep]
        if kind == "fused":
            return FusedLoss.apply(x, self.emb.weight, y, eps, chunk)
        l = F.cross_entropy(F.linear(x, self.emb.weight), y, label_smoothing=eps,
                            reduction="sum")
        return l, l.detach()


def lr_at(step, peak, warm):
    return peak * min(step / warm, (warm / step) ** 0.5)


def make_opt(model, a):
    ps = [p for p in model.parameters() if p.requires_grad]
    if a.flat:                                          # one flat tensor: one Adam kernel set
        n = sum(p.numel() for p in ps)
        flat, grad = torch.empty(n), torch.zeros(n)
        o = 0
        for p in ps:
            k = p.numel()
            flat[o:o + k] = p.data.view(-1)
            p.data = flat[o:o + k].view_as(p)
            p.grad = grad[o:o + k].view_as(p)
            o += k
        P = nn.Parameter(flat)
        P.grad = grad
        ps = [P]
    kw = {"fused": True} if a.fused_adam else {}
    return torch.optim.Adam(ps, lr=1e-7, betas=(0.9, 0.98), eps=1e-8, **kw), ps


def step_fn(model, opt, ps, a, upd, s, ti, to):
    lr = lr_at(upd, a.lr, a.warmup)
    for g in opt.param_groups:
        g["lr"] = lr
    if a.flat:
        ps[0].grad.zero_()
    else:
        opt.zero_grad(set_to_none=True)
    l, nll = model.loss(s, ti, to, 0.1, a.loss, a.chunk)
    n = int(to.ne(PAD).sum())
    (l / n).backward()
    torch.nn.utils.clip_grad_norm_(ps, 25.0)
    opt.step()
    return l.detach() / n, n


def choose_batches(a):
    src, tgt = read_ids(a.work)
    bs = make_batches(src, tgt, a.max_tokens, random.Random(1))
    bs = bs[::max(1, len(bs) // a.batches)][:a.batches]
    with open(os.path.join(a.work, "batches.txt"), "w") as out:
        for b in bs:
            out.write(" ".join(map(str, b)) + "\n")


def run(a):
    global DROP
    DROP = "torch" if a.model == "stock" else "bytes"
    torch.set_num_threads(a.threads)
    torch.set_flush_denormal(True)
    torch.manual_seed(1)
    src, tgt = read_ids(a.work)
    vocab = 1 + max(max(map(max, src)), max(map(max, tgt)))
    if a.model == "stock":
        model = StockModel(vocab)
        a.loss, a.flat = "torch", 0
    else:
        model = Model(vocab, impl="sdpa" if hasattr(F, "scaled_dot_product_attention") else "manual")
    opt, ps = make_opt(model, a)
    model.train()
    with open(os.path.join(a.work, "batches.txt")) as lines:
        data = [collate(src, tgt, [int(i) for i in line.split()]) for line in lines]
    tokens = sum(int(d[2].ne(PAD).sum()) for d in data)
    for d in data[:3]:
        step_fn(model, opt, ps, a, 1, *d)
    for _ in range(a.repetitions):
        start = time.perf_counter()
        for d in data:
            step_fn(model, opt, ps, a, 1, *d)
        print(tokens / (time.perf_counter() - start), flush=True)


if __name__ == "__main__":
    ap = argparse.ArgumentParser()
    ap.add_argument("command", choices=["batches", "run"])
    ap.add_argument("work")
    ap.add_argument("--model", choices=["tuned", "stock"], default="tuned")
    ap.add_argument("--threads", type=int, default=2)
    ap.add_argument("--repetitions", type=int, default=1)
    ap.add_argument("--batches", type=int, default=12)
    ap.add_argument("--max-tokens", type=int, default=4096)
    a = ap.parse_args()
    a.loss, a.chunk, a.flat, a.fused_adam, a.lr, a.warmup = "fused", 512, 1, 0, 5e-3, 2000
    (choose_batches if a.command == "batches" else run)(a)
