// Encoders: what ONNX Runtime computes is what Heed does, within 1e-5, and padding does not matter.
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { deflateSync, crc32 } from "node:zlib";

const tolerance = 1e-5;

function largestDifference(ours, theirs) {
  if (ours.length !== theirs.length) {
    throw new Error(`expected ${ours.length} numbers, found ${theirs.length}`);
  }
  let largest = 0;
  for (let i = 0; i < ours.length; ++i) {
    const difference = Math.abs(ours[i] - theirs[i]);
    if (!(difference <= largest)) largest = difference;
  }
  return largest;
}

function told(largest, limit = tolerance) {
  if (!(largest <= limit)) throw new Error(`largest difference ${largest}`);
  return `largest difference ${largest.toExponential(1)}`;
}

const integers = (onnx, rows) =>
  new onnx.Tensor("int64", BigInt64Array.from(rows.flat().map(BigInt)), [rows.length, rows[0].length]);

// Lines of different lengths, padded on the side that is asked for.
async function run(onnx, path, lines, side, types) {
  const session = await onnx.InferenceSession.create(path);
  const longest = Math.max(...lines.map((ids) => ids.length)) + 2;
  const pad = (values, fill) => {
    const padding = Array(longest - values.length).fill(fill);
    return side === "left" ? [...padding, ...values] : [...values, ...padding];
  };
  const inputs = {
    input_ids: integers(onnx, lines.map((ids) => pad(ids, 0))),
    attention_mask: integers(onnx, lines.map((ids) => pad(ids.map(() => 1), 0))),
  };
  if (session.inputNames.includes("token_type_ids")) {
    inputs.token_type_ids = integers(
      onnx, lines.map((ids, i) => pad(types?.[i] ?? ids.map(() => 0), 0)));
  }
  const outputs = await session.run(inputs);
  const [values] = Object.values(outputs);
  const width = values.dims[1];
  return lines.map((_, i) => Array.from(values.data.subarray(i * width, (i + 1) * width)));
}

function softmax(row) {
  const largest = Math.max(...row);
  const powers = row.map((x) => Math.exp(x - largest));
  const sum = powers.reduce((a, b) => a + b);
  return powers.map((x) => x / sum);
}

const weather = ["warm sun and bright day", "rain", "snow in the dark cold night and wind", "hot beach"];
const labels = ["warm", "cold", "cold", "warm"];

const classifiers = {
  "mean, sinusoidal positions": [],
  "first token, learned positions, norms after": ["--pooling", "first", "--positions", "learned", "--norm", "after"],
  "attention pooling, RoPE, RMS norm, SwiGLU, grouped queries":
    ["--pooling", "attention", "--positions", "rotary", "--norm-kind", "rms", "--activation", "swiglu", "--key-value-heads", "2"],
  "ALiBi, GELU by tanh": ["--positions", "alibi", "--activation", "gelu_tanh"],
  "no positions, ReLU": ["--positions", "none", "--activation", "relu"],
};

const small = ["--width", "32", "--heads", "4", "--encoder-layers", "2", "--feed-forward", "64",
               "--max-updates", "20", "--quiet"];

function probabilities(line) {
  const answer = JSON.parse(line);
  const all = answer.labels ?? answer;
  return Object.fromEntries(all.map((one) => [one.label, one.probability]));
}

async function compareClassifier(onnx, bench, model, exported) {
  bench.must(["convert", model, exported, "--to", "onnx"]);
  const names = JSON.parse(readFileSync(join(exported, "config.json"), "utf8")).labels;
  const lines = weather.join("\n") + "\n";
  const ours = bench
    .must(["classify", "--model", model, "--json", "--top", `${names.length}`], lines)
    .trim().split("\n").map(probabilities);
  const end = 3;
  const ids = bench
    .must(["tokenize", "--model", model, "--ids"], lines)
    .trim().split("\n").map((line) => line.trim().split(" ").map(Number))
    .map((line) => (line.at(-1) === end ? line : [...line, end]));
  let largest = 0;
  for (const side of ["right", "left"]) {
    const theirs = await run(onnx, join(exported, "model.onnx"), ids, side);
    theirs.forEach((row, i) => {
      const expected = names.map((name) => ours[i][name]);
      largest = Math.max(largest, largestDifference(expected, softmax(row)));
    });
  }
  return told(largest);
}

export async function exportedClassifiers(onnx, bench, check) {
  const rows = Array.from({ length: 120 }, (_, i) => `${labels[i % 4]}\t${weather[i % 4]}`);
  const file = bench.write("weather.tsv", rows.join("\n") + "\n");
  let number = 0;
  for (const [name, settings] of Object.entries(classifiers)) {
    const model = join(bench.folder, `classifier-${number}`);
    const exported = join(bench.folder, `classifier-${number++}-onnx`);
    await check(`ONNX classifier: ${name}`, async () => {
      bench.must(["train", "--model", model, "--labelled", file, "--preset", "classes",
                  ...settings, ...small]);
      return compareClassifier(onnx, bench, model, exported);
    });
  }
  await referenceClassifiers(onnx, bench, check);
}

// ---- Models of Hugging Face with the results of its own library

// The numbers of a .npy file of <f4 or <f8.
function readNpy(path) {
  const bytes = readFileSync(path);
  const headSize = bytes.readUInt16LE(8);
  const head = bytes.subarray(10, 10 + headSize).toString();
  const begin = 10 + headSize;
  const data = bytes.buffer.slice(bytes.byteOffset + begin, bytes.byteOffset + bytes.length);
  return head.includes("<f8") ? Array.from(new Float64Array(data)) : Array.from(new Float32Array(data));
}

async function compareReference(onnx, bench, folder, exported, arrayName) {
  bench.must(["convert", folder, exported, "--to", "onnx"]);
  const expected = JSON.parse(readFileSync(join(folder, "expected.json"), "utf8"));
  let largest = 0;
  for (const one of expected.cases) {
    const array = one.arrays?.[arrayName];
    if (!array || !one.input_ids) continue;
    const masks = one.attention_mask ?? one.input_ids.map((ids) => ids.map(() => 1));
    const real = (rows) => rows.map((row, i) => row.filter((_, j) => masks[i][j] === 1));
    const types = one.token_type_ids && real(one.token_type_ids);
    const theirs = await run(onnx, join(exported, "model.onnx"), real(one.input_ids), "right", types);
    const ours = readNpy(join(folder, array));
    largest = Math.max(largest, largestDifference(ours, theirs.flat()));
  }
  return told(largest, 2e-5);
}

const hasModel = (bench, name) => bench.data && existsSync(join(bench.data, "hf/models", name));

async function referenceClassifiers(onnx, bench, check) {
  for (const name of ["bert_seqcls", "roberta_seqcls", "distilbert_seqcls"]) {
    if (!hasModel(bench, name)) continue;
    await check(`ONNX ${name}`, () =>
      compareReference(onnx, bench, join(bench.data, "hf/models", name),
                       join(bench.folder, name), "logits_f64"));
  }
}

export async function exportedEncoders(onnx, bench, check) {
  for (const name of ["minilm_sentence", "minilm_sentence_cls", "mpnet_sentence"]) {
    if (!hasModel(bench, name)) continue;
    await check(`ONNX ${name}`, () =>
      compareReference(onnx, bench, join(bench.data, "hf/models", name),
                       join(bench.folder, name), "sentence_embedding_f64"));
  }
}

// ---- Images

function png(width, height, pixel) {
  const rows = [];
  for (let y = 0; y < height; ++y) {
    rows.push(0);
    for (let x = 0; x < width; ++x) rows.push(...pixel(x, y));
  }
  const chunk = (type, data) => {
    const body = Buffer.concat([Buffer.from(type), data]);
    const frame = Buffer.alloc(8);
    frame.writeUInt32BE(data.length, 0);
    frame.writeUInt32BE(crc32(body), 4);
    return Buffer.concat([frame.subarray(0, 4), body, frame.subarray(4)]);
  };
  const head = Buffer.alloc(13);
  head.writeUInt32BE(width, 0);
  head.writeUInt32BE(height, 4);
  head.set([8, 2, 0, 0, 0], 8);
  return Buffer.concat([
    Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]),
    chunk("IHDR", head), chunk("IDAT", deflateSync(Buffer.from(rows))), chunk("IEND", Buffer.alloc(0)),
  ]);
}

const width = 16, height = 12;
const pixel = (image) => (x, y) =>
  [(x * 13 + image * 31) % 256, (y * 21 + image * 57) % 256, ((x + y) * 9 + image * 5) % 256];

export async function exportedImages(onnx, bench, check) {
  const { mkdirSync } = await import("node:fs");
  const images = join(bench.folder, "images");
  for (const name of ["dark", "light"]) mkdirSync(join(images, name), { recursive: true });
  const paths = Array.from({ length: 16 }, (_, i) =>
    bench.write(`images/${i % 2 ? "dark" : "light"}/${i}.png`, png(width, height, pixel(i))));
  for (const settings of [[], ["--pooling", "attention", "--positions", "sinusoidal"]]) {
    const model = join(bench.folder, `images-${settings.length}`);
    await check(`ONNX images ${settings.join(" ")}`, async () => {
      bench.must(["train", "--model", model, "--images", images, "--preset", "images",
                  "--image-height", `${height}`, "--image-width", `${width}`,
                  "--image-channels", "3", "--patch-side", "4", ...settings, ...small]);
      bench.must(["convert", model, `${model}-onnx`, "--to", "onnx"]);
      const names = JSON.parse(readFileSync(join(`${model}-onnx`, "config.json"), "utf8")).labels;
      const ours = bench
        .must(["classify", "--model", model, "--json", "--top", "2"], paths.join("\n") + "\n")
        .trim().split("\n").map(probabilities);
      const values = new Float32Array(paths.length * 3 * height * width);
      let at = 0;
      for (let i = 0; i < paths.length; ++i) {
        for (let c = 0; c < 3; ++c) {
          for (let y = 0; y < height; ++y) {
            for (let x = 0; x < width; ++x) values[at++] = Math.fround(pixel(i)(x, y)[c] / 255);
          }
        }
      }
      const session = await onnx.InferenceSession.create(join(`${model}-onnx`, "model.onnx"));
      const pixels = new onnx.Tensor("float32", values, [paths.length, 3, height, width]);
      const { logits } = await session.run({ pixel_values: pixels });
      let largest = 0;
      for (let i = 0; i < paths.length; ++i) {
        const row = softmax(Array.from(logits.data.subarray(2 * i, 2 * i + 2)));
        largest = Math.max(largest, largestDifference(names.map((name) => ours[i][name]), row));
      }
      return told(largest);
    });
  }
}
