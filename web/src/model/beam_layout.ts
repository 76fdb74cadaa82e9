// The beam on paper: a column for each step, the best hypothesis on top.
import type { Beam, BeamNode } from '../lib/api';

export interface PlacedNode extends BeamNode {
  x: number;
  y: number;
  isBest: boolean;
}

export interface BeamLayout {
  nodes: PlacedNode[];
  links: { from: PlacedNode; to: PlacedNode; isBest: boolean }[];
  width: number;
  height: number;
  steps: number[];
}

export const nodeWidth = 96;
export const nodeHeight = 34;
const columnGap = 36;
const rowGap = 10;
const top = 28; // room for the names of the steps

export const columnX = (step: number) => step * (nodeWidth + columnGap);

export function beamLayout({ nodes, best }: Beam, hasDropped: boolean): BeamLayout {
  const bestIds = new Set(best);
  const placed = new Map<number, PlacedNode>();
  const steps = [...new Set(nodes.map(({ step }) => step))].sort((a, b) => a - b);
  for (const step of steps) {
    const column = nodes
      .filter((node) => node.step === step && (hasDropped || node.state !== 'dropped'))
      .sort(byRank);
    column.forEach((node, row) => {
      const y = top + row * (nodeHeight + rowGap);
      placed.set(node.id, { ...node, x: columnX(step), y, isBest: bestIds.has(node.id) });
    });
  }
  const all = [...placed.values()];
  return {
    nodes: all,
    links: linksOf(all, placed),
    width: Math.max(...all.map(({ x }) => x)) + nodeWidth + 4,
    height: Math.max(...all.map(({ y }) => y)) + nodeHeight + 4,
    steps,
  };
}

// Those that were dropped come last, however good.
function byRank(a: BeamNode, b: BeamNode): number {
  const dropped = (node: BeamNode) => (node.state === 'dropped' ? 1 : 0);
  return dropped(a) - dropped(b) || a.rank - b.rank || b.score - a.score;
}

function linksOf(nodes: PlacedNode[], placed: Map<number, PlacedNode>): BeamLayout['links'] {
  return nodes.flatMap((to) => {
    const from = to.parent === null ? undefined : placed.get(to.parent);
    return from ? [{ from, to, isBest: from.isBest && to.isBest }] : [];
  });
}

export function linkPath(from: PlacedNode, to: PlacedNode): string {
  const [x1, y1] = [from.x + nodeWidth, from.y + nodeHeight / 2];
  const [x2, y2] = [to.x, to.y + nodeHeight / 2];
  const middle = (x1 + x2) / 2;
  return `M${x1} ${y1}C${middle} ${y1} ${middle} ${y2} ${x2} ${y2}`;
}
