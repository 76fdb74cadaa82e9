// Where the points of the plane fall on the picture: one scale for both directions, so that
// distances mean the same everywhere.
import type { Paths, WordPath } from '../lib/api';

export interface Point {
  x: number;
  y: number;
}

export interface Box {
  width: number;
  height: number;
  margin: number;
}

// Moves are told apart by what made them.
export type MoveKind = 'attention' | 'cross' | 'feedForward' | 'other';

export function moveKind(stage: string): MoveKind {
  if (stage.endsWith('cross_attention')) return 'cross';
  if (stage.endsWith('attention')) return 'attention';
  return stage.endsWith('feed_forward') ? 'feedForward' : 'other';
}

export function scaleOf(points: Point[], { width, height, margin }: Box): (point: Point) => Point {
  const range = (values: number[]) => [Math.min(...values), Math.max(...values)];
  const [left, right] = range(points.map(({ x }) => x));
  const [bottom, top] = range(points.map(({ y }) => y));
  const scale = Math.min(
    (width - 2 * margin) / (right - left || 1),
    (height - 2 * margin) / (top - bottom || 1),
  );
  return ({ x, y }) => ({
    x: width / 2 + (x - (left + right) / 2) * scale,
    y: height / 2 - (y - (bottom + top) / 2) * scale,
  });
}

// Where the words of one side are at a stage, and where they came from.
export function pointsNow(paths: WordPath[], stage: number): Point[] {
  return paths.flatMap(({ points }) => points.slice(Math.max(stage - 1, 0), stage + 1));
}

export function allPoints({ anchors, side }: Paths, hasAnchors: boolean): Point[] {
  const paths = [...side.source, ...(side.target ?? [])];
  return [...paths.flatMap(({ points }) => points), ...(hasAnchors ? anchors : [])];
}

// The moves up to a stage, as one SVG path for each kind.
export function movesOf({ points }: WordPath, stage: number, place: (point: Point) => Point) {
  const paths = new Map<MoveKind, string>();
  for (let i = 1; i <= stage && i < points.length; ++i) {
    const [from, to] = [place(points[i - 1]), place(points[i])];
    const kind = moveKind(points[i].stage);
    const line = `M${written(from)}L${written(to)}`;
    paths.set(kind, (paths.get(kind) ?? '') + line);
  }
  return [...paths].map(([kind, path]) => ({ kind, path }));
}

function written({ x, y }: Point): string {
  return `${x.toFixed(1)} ${y.toFixed(1)}`;
}
