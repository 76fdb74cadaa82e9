// The geometry of the plane: which part of it is in sight, and the shapes that are drawn on it.

export type Point = readonly [x: number, y: number];

export interface Window {
  left: number;
  right: number;
  bottom: number;
  top: number;
}

const minSpan = 7; // a single word is not blown up
const margin = 0.9;

// A window with the shape of the picture that holds all points and the origin.
export function windowAround(points: Point[], aspect: number): Window {
  const xs = [0, ...points.map(([x]) => x)];
  const ys = [0, ...points.map(([, y]) => y)];
  const [left, right] = [Math.min(...xs) - margin, Math.max(...xs) + margin];
  const [bottom, top] = [Math.min(...ys) - margin, Math.max(...ys) + margin];
  const height = Math.max(top - bottom, (right - left) / aspect, minSpan);
  const width = height * aspect;
  const [x, y] = [(left + right) / 2, (bottom + top) / 2];
  return { left: x - width / 2, right: x + width / 2, bottom: y - height / 2, top: y + height / 2 };
}

export function between(a: Window, b: Window, share: number): Window {
  const mix = (from: number, to: number) => from + (to - from) * share;
  return {
    left: mix(a.left, b.left),
    right: mix(a.right, b.right),
    bottom: mix(a.bottom, b.bottom),
    top: mix(a.top, b.top),
  };
}

// An arrow in pixels: the shaft, and a head that does not grow with it.
export function arrow([x1, y1]: Point, [x2, y2]: Point, head = 8): { shaft: string; tip: string } {
  const length = Math.hypot(x2 - x1, y2 - y1);
  if (length < 1) return { shaft: '', tip: '' };
  const [ux, uy] = [(x2 - x1) / length, (y2 - y1) / length];
  const size = Math.min(head, length);
  const [bx, by] = [x2 - ux * size, y2 - uy * size];
  const [wx, wy] = [-uy * size * 0.45, ux * size * 0.45];
  const at = (x: number, y: number) => `${x.toFixed(1)} ${y.toFixed(1)}`;
  return {
    shaft: `M${at(x1, y1)}L${at(bx, by)}`,
    tip: `M${at(x2, y2)}L${at(bx + wx, by + wy)}L${at(bx - wx, by - wy)}Z`,
  };
}

// Who pulled me: from the word to its context in one piece for each word that pulled, as long as its
// weight says. The pieces meet the context because the weights sum to 1.
export function pullsFrom(word: Point, weights: number[], values: Point[]): [Point, Point][] {
  let place = word;
  return weights.map((weight, j) => {
    const from = place;
    place = [
      from[0] + weight * (values[j][0] - word[0]),
      from[1] + weight * (values[j][1] - word[1]),
    ];
    return [from, place];
  });
}

// The pulls laid end to end from the origin: their sum is the context.
export function chain(pulls: Point[]): [Point, Point][] {
  let place: Point = [0, 0];
  return pulls.map(([x, y]) => {
    const from = place;
    place = [from[0] + x, from[1] + y];
    return [from, place];
  });
}
