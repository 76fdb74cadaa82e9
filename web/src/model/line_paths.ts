// The lines from queries to keys as a few SVG paths: lines of about the same weight share one, so
// that even a long sentence is a handful of elements.
import type { HeadMatrix } from './head_matrix';
import { tone, type ToneScale } from './paint';

export interface LineLayout {
  left: number;
  right: number;
  queryY: (i: number) => number;
  keyY: (j: number) => number;
}

export interface LineBundle {
  strength: number; // 0 to 1
  path: string;
}

const steps = 10; // of strength
const weakest = 0.02; // of strength; what is weaker would not be seen
export const maxLines = 3000;

export interface Line {
  query: number;
  key: number;
  strength: number;
}

// The strongest lines of all queries and keys.
export function strongLines(matrix: HeadMatrix, scale: ToneScale): Line[] {
  const lines: Line[] = [];
  matrix.values.forEach((weight, i) => {
    const strength = tone(weight, scale);
    if (strength < weakest) return;
    const query = Math.floor(i / matrix.keys.length);
    lines.push({ query, key: i % matrix.keys.length, strength });
  });
  if (lines.length <= maxLines) return lines;
  return lines.sort((a, b) => b.strength - a.strength).slice(0, maxLines);
}

// All lines of one query, of one key, or the one line between both.
export function linesOf(
  matrix: HeadMatrix,
  query: number,
  key: number,
  scale: ToneScale,
): Line[] {
  const queries = query >= 0 ? [query] : matrix.queries.map((_, i) => i);
  const keys = key >= 0 ? [key] : matrix.keys.map((_, j) => j);
  return queries
    .flatMap((i) =>
      keys.map((j) => ({
        query: i,
        key: j,
        strength: tone(matrix.values[i * matrix.keys.length + j], scale),
      })),
    )
    .filter(({ strength }) => strength > 0);
}

export function bundles(lines: Line[], layout: LineLayout): LineBundle[] {
  const paths: string[][] = Array.from({ length: steps }, () => []);
  for (const { query, key, strength } of lines) {
    const step = Math.min(Math.floor(strength * steps), steps - 1);
    paths[step].push(curve(layout, query, key));
  }
  return paths
    .map((path, step) => ({ strength: (step + 1) / steps, path: path.join('') }))
    .filter(({ path }) => path !== '');
}

function curve({ left, right, queryY, keyY }: LineLayout, query: number, key: number): string {
  const middle = (left + right) / 2;
  const [from, to] = [queryY(query).toFixed(1), keyY(key).toFixed(1)];
  return `M${left} ${from}C${middle} ${from} ${middle} ${to} ${right} ${to}`;
}
