// Where the names of points go so that they do not cover each other.
import type { Point } from './plane';

export interface LabelPlace {
  x: number; // pixels from the point
  y: number; // of the base line
  anchor: 'start' | 'end';
}

interface Box {
  left: number;
  right: number;
  top: number;
  bottom: number;
}

const letterWidth = 10; // pixels, generous
const lineHeight = 17;
const gap = 13;

// Right above the point if there is room; else left, below, or further away, whichever is free first.
const rows = [-10, 20, -26, 36, 5, -42, 52, -58, 68, -74, 84];
const candidates: LabelPlace[] = rows.flatMap((y): LabelPlace[] => [
  { x: gap, y, anchor: 'start' },
  { x: -gap, y, anchor: 'end' },
]);

export function labelPlaces(
  points: Point[],
  names: string[],
  width: number,
  height: number,
): LabelPlace[] {
  const taken: Box[] = points.map(([x, y]) => ({
    left: x - 6,
    right: x + 6,
    top: y - 6,
    bottom: y + 6,
  }));
  return points.map((point, i) => {
    const size = [...(names[i] ?? '')].length * letterWidth;
    const boxes = candidates.map((place) => boxOf(point, place, size));
    const isFree = (box: Box) =>
      box.left >= 0 &&
      box.right <= width &&
      box.top >= 0 &&
      box.bottom <= height &&
      !taken.some((other, j) => j !== i && overlap(box, other));
    const found = Math.max(boxes.findIndex(isFree), 0);
    taken.push(boxes[found]);
    return candidates[found];
  });
}

function boxOf([x, y]: Point, place: LabelPlace, size: number): Box {
  const start = x + place.x;
  const [left, right] = place.anchor === 'start' ? [start, start + size] : [start - size, start];
  return { left, right, top: y + place.y - lineHeight + 4, bottom: y + place.y + 4 };
}

function overlap(a: Box, b: Box): boolean {
  return a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom;
}
