// Models of Hugging Face with the results of its own library, in a folder that HEED_DATA names.
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";

export function referenceFolder(bench, name) {
  const folder = bench.data && join(bench.data, "hf/models", name);
  return folder && existsSync(folder) ? folder : null;
}

export const referenceOf = (folder) =>
  JSON.parse(readFileSync(join(folder, "expected.json"), "utf8"));

// The numbers of a .npy file of <f4 or <f8.
export function readNpy(path) {
  const bytes = readFileSync(path);
  const headSize = bytes.readUInt16LE(8);
  const head = bytes.subarray(10, 10 + headSize).toString();
  const begin = bytes.byteOffset + 10 + headSize;
  const data = bytes.buffer.slice(begin, bytes.byteOffset + bytes.length);
  return head.includes("<f8") ? Array.from(new Float64Array(data)) : Array.from(new Float32Array(data));
}

// Four times what float32 differs by in the library itself, or 1e-5.
export const toleranceOf = (expected, array) => Math.max(4 * (expected.tolerance?.[array] ?? 0), 1e-5);

export function largestDifference(ours, theirs) {
  if (ours.length !== theirs.length) {
    throw new Error(`expected ${ours.length} numbers, found ${theirs.length}`);
  }
  let largest = 0;
  for (let i = 0; i < ours.length; ++i) {
    const difference = Math.abs(ours[i] - theirs[i]);
    if (!(difference <= largest)) largest = difference;  // also one that is not a number
  }
  return largest;
}

export function told(largest, limit) {
  if (!(largest <= limit)) throw new Error(`largest difference ${largest}, at most ${limit}`);
  return `largest difference ${largest.toExponential(1)}`;
}
