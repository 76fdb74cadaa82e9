// Encoders: what ONNX Runtime computes is what Heed does, within 1e-5, and padding does not matter.
import { mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { deflateSync, crc32 } from "node:zlib";

import { largestDifference, readNpy, referenceFolder, referenceOf, toleranceOf, told } from "./references.mjs";

const tolerance = 1e-5;
const halves = 5e-3;  // weights in half precision

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

const blocks = {
  "norms after, ReLU": ["--norm", "after", "--activation", "relu"],
  "norms around, GELU": ["--norm", "around", "--activation", "gelu"],
  "RMS norm, SwiGLU, grouped queries":
    ["--norm-kind", "rms", "--activation", "swiglu", "--key-value-heads", "2"],
  "GELU by tanh": ["--activation", "gelu_tanh"],
  "quick GELU": ["--activation", "quick_gelu"],
  "SiLU": ["--activation", "silu"],
};
const positions = ["sinusoidal", "learned", "rotary", "alibi", "none"];
const poolings = ["mean", "first", "last", "max", "attention"];

// Every position encoding with every pooling, and other blocks.
function classifierSettings() {
  const all = positions.flatMap((kind) => poolings.map((pooling) =>
    [`${kind} positions, ${pooling} pooling`, ["--positions", kind, "--pooling", pooling]]));
  return [...all, ...Object.entries(blocks)];
}

const small = ["--width", "32", "--heads", "4", "--encoder-layers", "2", "--feed-forward", "64",
               "--max-updates", "20", "--quiet"];

function probabilities(line) {
  const answer = JSON.parse(line);
  const all = answer.classes ?? answer.labels;
  return Object.fromEntries(all.map((one) => [one.label, one.probability]));
}

async function compareClassifier(onnx, bench, model, exported) {
  await bench.must(["convert", model, exported, "--to", "onnx"]);
  const names = JSON.parse(readFileSync(join(exported, "config.json"), "utf8")).labels;
  const lines = weather.join("\n") + "\n";
  const ours = (await bench.must(["classify", "--model", model, "--json", "--top", `${names.length}`], lines))
    .trim().split("\n").map(probabilities);
  const end = 3;
  const ids = (await bench.must(["tokenize", "--model", model, "--ids"], lines))
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
  return told(largest, tolerance);
}

export async function exportedClassifiers(onnx, bench, check) {
  const rows = Array.from({ length: 120 }, (_, i) => `${labels[i % 4]}\t${weather[i % 4]}`);
  const file = bench.write("weather.tsv", rows.join("\n") + "\n");
  let number = 0;
  for (const [name, settings] of classifierSettings()) {
    const model = join(bench.folder, `classifier-${number}`);
    const exported = join(bench.folder, `classifier-${number++}-onnx`);
    await check(`ONNX classifier: ${name}`, async () => {
      await bench.must(["train", "--model", model, "--labelled", file, "--preset", "classes",
                  ...settings, ...small]);
      return compareClassifier(onnx, bench, model, exported);
    });
  }
}

// ---- Models of Hugging Face with the results of its own library

async function compareReference(onnx, bench, folder, exported, arrayName, weights) {
  await bench.must(["convert", folder, exported, "--to", "onnx", "--weights", weights]);
  const expected = referenceOf(folder);
  let largest = 0;
  for (const one of expected.cases) {
    const array = one.arrays?.[arrayName];
    if (!array || !one.input_ids) continue;
    const masks = one.attention_mask ?? one.input_ids.map((ids) => ids.map(() => 1));
    const real = (rows) => rows.map((row, i) => row.filter((_, j) => masks[i][j] === 1));
    const types = one.token_type_ids && real(one.token_type_ids);
    const ours = readNpy(join(folder, array));
    for (const side of ["right", "left"]) {
      const theirs = await run(onnx, join(exported, "model.onnx"), real(one.input_ids), side, types);
      largest = Math.max(largest, largestDifference(ours, theirs.flat()));
    }
  }
  return told(largest, weights === "f16" ? halves : toleranceOf(expected, "logits"));
}

async function compareImages(onnx, bench, folder, exported, arrayName, weights) {
  await bench.must(["convert", folder, exported, "--to", "onnx", "--weights", weights]);
  const expected = referenceOf(folder);
  const config = JSON.parse(readFileSync(join(folder, "config.json"), "utf8"));
  const session = await onnx.InferenceSession.create(join(exported, "model.onnx"));
  let largest = 0;
  for (const one of expected.cases) {
    const values = Float32Array.from(readNpy(join(folder, one.arrays.pixel_values)));
    const size = config.num_channels * config.image_size * config.image_size;
    const shape = [values.length / size, config.num_channels, config.image_size, config.image_size];
    const { logits } = await session.run({ pixel_values: new onnx.Tensor("float32", values, shape) });
    largest = Math.max(largest, largestDifference(readNpy(join(folder, one.arrays[arrayName])), logits.data));
  }
  return told(largest, weights === "f16" ? halves : toleranceOf(expected, "logits"));
}

const families = {
  bert_seqcls: [compareReference, "logits_f64"],
  roberta_seqcls: [compareReference, "logits_f64"],
  distilbert_seqcls: [compareReference, "logits_f64"],
  minilm_sentence: [compareReference, "sentence_embedding_f64"],
  minilm_sentence_cls: [compareReference, "sentence_embedding_f64"],
  mpnet_sentence: [compareReference, "sentence_embedding_f64"],
  vit_a: [compareImages, "logits_f64"],
};

export async function exportedFamilies(onnx, bench, check) {
  for (const [name, [compare, array]] of Object.entries(families)) {
    const folder = referenceFolder(bench, name);
    for (const weights of folder ? ["f32", "f16"] : []) {
      await check(`ONNX ${name}, ${weights}`, () =>
        compare(onnx, bench, folder, join(bench.folder, `${name}-${weights}`), array, weights));
    }
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
  const images = join(bench.folder, "images");
  for (const name of ["dark", "light"]) mkdirSync(join(images, name), { recursive: true });
  const paths = Array.from({ length: 16 }, (_, i) =>
    bench.write(`images/${i % 2 ? "dark" : "light"}/${i}.png`, png(width, height, pixel(i))));
  for (const settings of [[], ["--pooling", "attention", "--positions", "sinusoidal"]]) {
    const model = join(bench.folder, `images-${settings.length}`);
    await check(`ONNX images ${settings.join(" ")}`, async () => {
      await bench.must(["train", "--model", model, "--images", images, "--preset", "images",
                  "--image-height", `${height}`, "--image-width", `${width}`,
                  "--image-channels", "3", "--patch-side", "4", ...settings, ...small]);
      await bench.must(["convert", model, `${model}-onnx`, "--to", "onnx"]);
      const names = JSON.parse(readFileSync(join(`${model}-onnx`, "config.json"), "utf8")).labels;
      const ours = (await bench.must(["classify", "--model", model, "--json", "--top", "2"], paths.join("\n") + "\n"))
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
      return told(largest, tolerance);
    });
  }
}
