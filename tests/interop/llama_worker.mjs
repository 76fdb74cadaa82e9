// One GGUF file in llama.cpp, in a process of its own: an abort of it ends this process alone.
// Reads {packages, path, prompts: [{text | ids, count, has_probabilities}]} from standard input,
// and prints for each {ids, next, text, probabilities}.
import { readFileSync } from "node:fs";
import { join } from "node:path";

const request = JSON.parse(readFileSync(0, "utf8"));
const package_ = join(request.packages, "node-llama-cpp");
const info = JSON.parse(readFileSync(join(package_, "package.json"), "utf8"));
const { getLlama } = await import(join(package_, info.main ?? info.exports["."].import));

const engine = await getLlama({ gpu: false, build: "never", logLevel: "error", maxThreads: 1 });
const model = await engine.loadModel({ modelPath: request.path });
// Keys and values are halves otherwise, which is 0.01 of a logit.
const context = await model.createContext({
  contextSize: 128, threads: 1, flashAttention: false,
  experimentalKvCacheKeyType: "F32", experimentalKvCacheValueType: "F32",
});
const sequence = context.getSequence();

// Of every token after each of the ids: its logarithm of the probability, by id.
async function logProbabilities(ids) {
  const outputs = await sequence.controlledEvaluate(
    ids.map((id) => [id, { generateNext: { probabilities: true } }]));
  await sequence.clearHistory();
  return outputs.map((output) => {
    const row = [];
    for (const [id, probability] of output.next.probabilities) row[id] = Math.log(probability);
    return row;
  });
}

async function greedy(ids, count) {
  const next = [];
  const options = { temperature: 0, repeatPenalty: false, yieldEogToken: true };
  for await (const token of sequence.evaluate(ids, options)) {
    next.push(token);
    if (next.length === count || token === model.tokens.eos) break;
  }
  await sequence.clearHistory();
  return next;
}

function idsOf(text) {
  const ids = model.tokenize(text);
  if (model.tokens.shouldPrependBosToken) ids.unshift(model.tokens.bos);
  return ids;
}

const answers = [];
for (const prompt of request.prompts) {
  const ids = prompt.ids ?? idsOf(prompt.text);
  const next = await greedy(ids, prompt.count);
  const written = next.filter((id) => id !== model.tokens.eos);
  answers.push({
    ids, next, text: model.detokenize(written, false, ids),
    probabilities: prompt.has_probabilities ? await logProbabilities(ids) : [],
  });
}
await new Promise((done) => process.stdout.write(JSON.stringify(answers), done));
process.exit(0);
