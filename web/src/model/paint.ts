// Weights as pixels.
import { amountColour, type Theme } from '../lib/palette';

const tones = 256;
const decades = 4; // of log colours, below the largest weight

// The range of weights that the colours tell apart.
export interface ToneScale {
  largest: number;
  isLog: boolean;
}

// What share of the darkest tone a weight gets.
export function tone(weight: number, { largest, isLog }: ToneScale): number {
  if (!isLog) return weight / largest;
  return weight <= 0 ? 0 : Math.max(0, 1 + Math.log10(weight / largest) / decades);
}

export function faintest({ largest, isLog }: ToneScale): number {
  return isLog ? largest / 10 ** decades : 0;
}

export function largestOf(values: ArrayLike<number>): number {
  let largest = 0;
  for (let i = 0; i < values.length; ++i) largest = Math.max(largest, values[i]);
  return largest || 1;
}

const tables = new Map<string, Uint32Array>();

function toneTable(theme: Theme): Uint32Array {
  let table = tables.get(theme);
  if (table === undefined) {
    table = new Uint32Array(tones);
    const bytes = new Uint8ClampedArray(table.buffer);
    for (let i = 0; i < tones; ++i) bytes.set([...amountColour(i / (tones - 1), theme), 255], 4 * i);
    tables.set(theme, table);
  }
  return table;
}

export interface PaintOptions extends ToneScale {
  theme: Theme;
}

// One pixel a cell; the page scales the canvas, so a hover never paints anything again.
export function paintCells(
  canvas: HTMLCanvasElement,
  values: ArrayLike<number>,
  rows: number,
  columns: number,
  options: PaintOptions,
) {
  canvas.width = Math.max(columns, 1);
  canvas.height = Math.max(rows, 1);
  const context = canvas.getContext('2d')!;
  const image = context.createImageData(canvas.width, canvas.height);
  const pixels = new Uint32Array(image.data.buffer);
  const table = toneTable(options.theme);
  for (let i = 0; i < rows * columns; ++i) {
    const share = Math.min(tone(values[i], options), 1);
    pixels[i] = table[Math.round(share * (tones - 1))];
  }
  context.putImageData(image, 0, 0);
}

// At most `size` x `size` cells; of the cells that fall together the largest is seen, so that thin
// lines do not vanish.
export function shrunk(values: Float32Array, rows: number, columns: number, size: number) {
  const height = Math.min(rows, size);
  const width = Math.min(columns, size);
  if (height === rows && width === columns) return { values, rows, columns };
  const small = new Float32Array(height * width);
  for (let i = 0; i < rows; ++i) {
    const row = Math.floor((i * height) / rows) * width;
    for (let j = 0; j < columns; ++j) {
      const place = row + Math.floor((j * width) / columns);
      small[place] = Math.max(small[place], values[i * columns + j]);
    }
  }
  return { values: small, rows: height, columns: width };
}
