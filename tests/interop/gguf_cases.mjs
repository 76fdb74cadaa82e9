// Language models: the greedy text of llama.cpp is that of Heed.
import { existsSync, rmSync } from "node:fs";
import { join } from "node:path";

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
const models = {
  "gpt2, characters": ["--preset", "char", "--subwords", "char"],
  "gpt2, sinusoidal positions": ["--preset", "char", "--positions", "sinusoidal", "--activation", "gelu_tanh"],
  "gptneox, rotary positions": ["--preset", "char", "--positions", "rotary"],
  "mpt, ALiBi and bytes": ["--preset", "char", "--positions", "alibi", "--subwords", "byte"],
  "llama, grouped queries": ["--preset", "gpt-mini", "--norm-kind", "rms", "--key-value-heads", "2"],
  "llama, unigrams, untied": ["--preset", "gpt-mini", "--norm-kind", "rms", "--subwords", "unigram", "--tying", "none"],
};

async function continuation(llama, engine, path, text) {
  const model = await engine.loadModel({ modelPath: path });
  const context = await model.createContext({ contextSize: 128 });
  const tokens = model.tokenize(text);
  if (model.tokens.shouldPrependBosToken) tokens.unshift(model.tokens.bos);
  const next = [];
  const options = { temperature: 0, repeatPenalty: false };
  for await (const token of context.getSequence().evaluate(tokens, options)) {
    next.push(token);
    if (next.length === numTokens) break;
  }
  const written = model.detokenize(next, false, tokens);
  await context.dispose();
  await model.dispose();
  return written;
}

async function compare(llama, engine, bench, model, weights) {
  const path = join(bench.folder, `${weights}.gguf`);
  bench.must(["convert", model, path, "--to", "gguf", "--weights", weights]);
  const ours = bench
    .must(["generate", "--model", model, "--prompt", prompt, "--max-tokens", `${numTokens}`,
           "--temperature", "0"])
    .replace(/\n$/, "");
  const theirs = await continuation(llama, engine, path, prompt);
  rmSync(path);
  if (ours !== theirs) throw new Error(`${JSON.stringify(ours)} | ${JSON.stringify(theirs)}`);
  return JSON.stringify(ours.slice(0, 50));
}

export async function exportedTexts(llama, bench, check) {
  const engine = await llama.getLlama({ gpu: false, build: "never", logLevel: "error" });
  // llama.cpp stops at characters that a vocabulary without bytes lacks, and its package tries some.
  const ascii = Array.from({ length: 94 }, (_, i) => String.fromCharCode(33 + i)).join("");
  const text = bench.write("verse.txt", `${verse.repeat(200)}${ascii}\n`);
  let number = 0;
  for (const [name, settings] of Object.entries(models)) {
    const model = join(bench.folder, `language-${number++}`);
    const train = ["train", "--model", model, "--text", text, ...settings, ...small];
    const subwords = settings.includes("--subwords") ? [] : ["--subwords", "bpe"];
    const sizes = /char|byte/.test(settings.join(" ")) ? [] : ["--vocabulary", "160"];
    await check(`GGUF ${name}`, async () => {
      bench.must([...train, ...subwords, ...sizes]);
      const f32 = await compare(llama, engine, bench, model, "f32");
      await compare(llama, engine, bench, model, "f16");
      return f32;
    });
  }
  await exportedFolders(llama, engine, bench, check);
}

// Models of other families, if the data are there.
async function exportedFolders(llama, engine, bench, check) {
  const stories = bench.data && join(bench.data, "stories260k");
  if (!stories || !existsSync(stories)) return;
  for (const weights of ["f32", "f16", "int8"]) {
    await check(`GGUF stories260k, ${weights}`, () =>
      compare(llama, engine, bench, stories, weights));
  }
}
