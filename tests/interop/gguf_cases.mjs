// Language models: llama.cpp writes the greedy text that Heed does, and that Hugging Face's own
// library does; its logarithms of probabilities are those of the library.
import { copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { largestDifference, readNpy, referenceFolder, referenceOf, toleranceOf, told } from "./references.mjs";

const numTokens = 40;
const prompt = "The king said";

// A verse again and again: a model of few updates knows it by heart, so that greedy choices are
// clear ones.
const verse =
  "The king said to the queen that the sun was high.\nThe queen said to the king: why, oh why?\n";

const small = [
  "--width", "64", "--heads", "4", "--decoder-layers", "2", "--feed-forward", "128",
  "--context", "64", "--label-smoothing", "0", "--max-updates", "120", "--quiet",
];
const subwords = (name, size) => ["--subwords", name, ...(size ? ["--vocabulary", `${size}`] : [])];
const models = {
  "gpt2, characters": ["--preset", "char", ...subwords("char")],
  "gpt2, sinusoidal positions":
    ["--preset", "char", "--positions", "sinusoidal", "--activation", "gelu_tanh", ...subwords("bpe", 60)],
  "gptneox, rotary positions": ["--preset", "char", "--positions", "rotary", ...subwords("bpe", 60)],
  "mpt, ALiBi and bytes": ["--preset", "char", "--positions", "alibi", ...subwords("byte")],
  "llama, grouped queries":
    ["--preset", "gpt-mini", "--norm-kind", "rms", "--key-value-heads", "2", ...subwords("bpe", 60)],
  "llama, unigrams, untied":
    ["--preset", "gpt-mini", "--norm-kind", "rms", "--tying", "none", ...subwords("unigram", 35)],
};

async function compareTexts(bench, model, weights) {
  const path = join(bench.folder, `${weights}.gguf`);
  await bench.must(["convert", model, path, "--to", "gguf", "--weights", weights]);
  const text = await bench.must(
    ["generate", "--model", model, "--prompt", prompt, "--max-tokens", `${numTokens}`, "--temperature", "0"]);
  const ours = text.replace(/\n$/, "");
  // Characters that no text of the training has; they must not end the process.
  const [theirs] = await bench.llama(path, [
    { text: prompt, count: numTokens }, { text: "Ça & 王 <\u{1f600}>", count: 2 }]);
  rmSync(path);
  if (ours !== theirs.text) throw new Error(`${JSON.stringify(ours)} | ${JSON.stringify(theirs.text)}`);
  return `text ${JSON.stringify(ours.slice(0, 40))}`;
}

export async function exportedTexts(bench, check) {
  const text = bench.write("verse.txt", verse.repeat(200));
  let number = 0;
  for (const [name, settings] of Object.entries(models)) {
    const model = join(bench.folder, `language-${number++}`);
    await check(`GGUF ${name}`, async () => {
      await bench.must(["train", "--model", model, "--text", text, ...settings, ...small]);
      await compareTexts(bench, model, "f16");
      return compareTexts(bench, model, "f32");
    });
  }
}

// ---- Other families

// Byte-level BPE of single characters, as many tokens as the model has.
function tokenizerOf(config) {
  const names = { bos_token_id: "<s>", eos_token_id: "</s>", pad_token_id: "<pad>" };
  const special = new Map();
  for (const [key, name] of Object.entries(names)) {
    if (Number.isInteger(config[key])) special.set(config[key], name);
  }
  const vocab = {};
  let character = 33;
  for (let id = 0; id < config.vocab_size; ++id) {
    vocab[special.get(id) ?? String.fromCharCode(character++)] = id;
  }
  const bytes = { type: "ByteLevel", add_prefix_space: false, trim_offsets: true, use_regex: true };
  return {
    version: "1.0", truncation: null, padding: null,
    added_tokens: [...special].sort(([a], [b]) => a - b).map(([id, content]) => ({
      id, content, single_word: false, lstrip: false, rstrip: false, normalized: false, special: true })),
    normalizer: null, pre_tokenizer: bytes, post_processor: null, decoder: bytes,
    model: { type: "BPE", dropout: null, unk_token: null, continuing_subword_prefix: null,
             end_of_word_suffix: null, fuse_unk: false, byte_fallback: false, vocab, merges: [] },
  };
}

function withTokenizer(bench, folder, name) {
  const copy = join(bench.folder, name);
  if (existsSync(copy)) return copy;
  mkdirSync(copy);
  for (const file of readdirSync(folder)) {
    if (/^(config|generation_config)\.json$|^model/.test(file)) copyFileSync(join(folder, file), join(copy, file));
  }
  const config = JSON.parse(readFileSync(join(folder, "config.json"), "utf8"));
  writeFileSync(join(copy, "tokenizer.json"), JSON.stringify(tokenizerOf(config)));
  return copy;
}

function logSoftmax(row) {
  const largest = Math.max(...row);
  const sum = Math.log(row.reduce((total, x) => total + Math.exp(x - largest), 0)) + largest;
  return row.map((x) => x - sum);
}

const untilEnd = (ids, end) => (ids.includes(end) ? ids.slice(0, ids.indexOf(end) + 1) : ids);

// Of the first three cases, which have one row: the largest difference of all probabilities, and
// the greedy sequences where they are to be equal.
async function compareReference(bench, folder, path, isExact) {
  const expected = referenceOf(folder);
  const end = JSON.parse(readFileSync(join(folder, "config.json"), "utf8")).eos_token_id;
  const cases = expected.cases.slice(0, 3);
  const greedy = cases.map((one) => one.generate?.find((run) => run.params.num_beams === 1));
  const answers = await bench.llama(path, cases.map((one, i) => ({
    ids: one.input_ids[0], has_probabilities: true,
    count: greedy[i] ? greedy[i].sequences[0].length - one.input_ids[0].length : 1,
  })));
  let largest = 0;
  answers.forEach((answer, i) => {
    const logits = readNpy(join(folder, cases[i].arrays.logits_f64));
    const size = logits.length / answer.ids.length;
    answer.probabilities.forEach((row, place) => {
      const ours = logSoftmax(logits.slice(place * size, (place + 1) * size));
      largest = Math.max(largest, largestDifference(ours, row));
    });
    if (!greedy[i] || !isExact) return;
    const ours = untilEnd(greedy[i].sequences[0].slice(answer.ids.length), end);
    if (`${ours}` !== `${answer.next}`) throw new Error(`expected ${ours}, found ${answer.next}`);
  });
  return { largest, limit: toleranceOf(expected, "logits") };
}

const halfGelu = 5e-3;  // llama.cpp has a table of it in half precision, and by tanh alone
const families = {
  llama_gqa: 0, llama_bias_headdim: 0, llama_linear_tied: 0, llama_rope3: 0, llama_v5: 0,
  llama_yarn: 0, llama_sharded_bf16: 0, qwen2_tied: 0, qwen3_tied: 0, gpt2_a: halfGelu,
  gpt2_hubnames: halfGelu, gpt_neox_parallel: halfGelu,
};
// What the tiny random models were seen to differ by (0.024, 0.32), and some more: no derived bound.
// Weights that Heed itself rounds to f16, in a file of f32, differ by 0.022.
const roundings = { f32: 0, f16: 0.05, int8: 0.5 };

export async function exportedFamilies(bench, check) {
  for (const [name, approximation] of Object.entries(families)) {
    const folder = referenceFolder(bench, name);
    for (const [weights, rounding] of folder ? Object.entries(roundings) : []) {
      await check(`GGUF ${name}, ${weights}`, async () => {
        const path = join(bench.folder, `${name}-${weights}.gguf`);
        const model = withTokenizer(bench, folder, name);
        await bench.must(["convert", model, path, "--to", "gguf", "--weights", weights]);
        const { largest, limit } = await compareReference(bench, folder, path, rounding === 0);
        rmSync(path);
        const greedy = rounding === 0 ? "greedy ids, " : "";
        return greedy + told(largest, Math.max(limit, approximation, rounding));
      });
    }
  }
  await refusedFamily(bench, check);
  await exportedStories(bench, check);
}

async function refusedFamily(bench, check) {
  const folder = referenceFolder(bench, "mistral_window5");
  if (!folder) return;
  await check("GGUF mistral_window5 is refused", async () => {
    const model = withTokenizer(bench, folder, "mistral_window5");
    const path = join(bench.folder, "window.gguf");
    const output = await bench.heed(["convert", model, path, "--to", "gguf"]);
    if (output !== null || existsSync(path)) throw new Error("expected a refusal, found a file");
    if (!bench.log.includes("windows: ")) throw new Error(`expected windows, found ${bench.log}`);
    return bench.log.trim();
  });
}

// Weights of eight bits change the text sooner or later: its probabilities must be close.
async function exportedStories(bench, check) {
  const stories = bench.data && join(bench.data, "stories260k");
  if (!stories || !existsSync(stories)) return;
  for (const weights of ["f32", "f16"]) {
    await check(`GGUF stories260k, ${weights}`, () => compareTexts(bench, stories, weights));
  }
  await check("GGUF stories260k, int8", async () => {
    const rows = [];
    for (const weights of ["f32", "int8"]) {
      const path = join(bench.folder, `stories-${weights}.gguf`);
      await bench.must(["convert", stories, path, "--to", "gguf", "--weights", weights]);
      const text = "Once upon a time, there was a little girl named Lily. She loved to play outside.";
      const [answer] = await bench.llama(path, [{ text, count: 1, has_probabilities: true }]);
      rmSync(path);
      rows.push(answer.probabilities.flat());
    }
    return `probabilities against f32, ${told(largestDifference(...rows), 0.5)}`;
  });
}
