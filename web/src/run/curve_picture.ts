// A diagram of a run as SVG, for saving: on the page it is a canvas, which follows the pointer.
import { scaleLinear } from 'd3-scale';
import { line } from 'd3-shape';
import { nameColour, type Theme } from '../lib/palette';
import { element, label } from '../lib/svg';
import type { CurveData, Line } from './curve_data';

const size = { width: 720, height: 320 };
const margin = { left: 64, right: 16, top: 36, bottom: 36 };

type Scale = (value: number) => number;

export function shortTick(value: number): string {
  if (value === 0 || (Math.abs(value) >= 0.01 && Math.abs(value) < 1e5)) {
    return String(Number(value.toPrecision(6)));
  }
  return value.toExponential(1).replace('e+', 'e').replace('.0e', 'e');
}

export function curvePicture({ updates, lines }: CurveData, theme: Theme): SVGSVGElement {
  const { width, height } = size;
  const svg = element('svg', {
    viewBox: `0 0 ${width} ${height}`,
    'font-family': 'sans-serif',
    'font-size': 12,
  });
  const x = scaleLinear(extentOf(updates), [margin.left, width - margin.right]);
  const all = lines.flatMap(({ values }) => values.filter((value) => value !== null));
  const y = scaleLinear(extentOf(all), [height - margin.bottom, margin.top]).nice();
  const style = getComputedStyle(document.documentElement);
  const [ink, rule] = ['--ink-soft', '--line'].map((name) => style.getPropertyValue(name).trim());

  for (const tick of x.ticks(8)) {
    svg.append(ruleFrom(x(tick), margin.top, x(tick), height - margin.bottom, rule));
    svg.append(label(shortTick(tick), x(tick), height - margin.bottom + 18, 'middle', ink));
  }
  for (const tick of y.ticks(6)) {
    svg.append(ruleFrom(margin.left, y(tick), width - margin.right, y(tick), rule));
    svg.append(label(shortTick(tick), margin.left - 8, y(tick) + 4, 'end', ink));
  }
  lines.forEach((one, i) => svg.append(...drawn(one, updates, x, y, nameColour(i, theme))));
  let at = margin.left;
  lines.forEach(({ label: name }, i) => {
    svg.append(label(name, at, 20, 'start', nameColour(i, theme)));
    at += 24 + 7 * name.length;
  });
  return svg as SVGSVGElement;
}

// From the least to the largest; a lone number gets some room.
function extentOf(values: number[]): [number, number] {
  const [least, most] = values.reduce(
    ([low, high], value) => [Math.min(low, value), Math.max(high, value)],
    [Infinity, -Infinity],
  );
  if (least > most) return [0, 1];
  return least === most ? [least - 0.5, most + 0.5] : [least, most];
}

function drawn(
  { values, hasPoints }: Line,
  updates: number[],
  x: Scale,
  y: Scale,
  colour: string,
): SVGElement[] {
  const points = values.flatMap((value, i): [number, number][] =>
    value === null ? [] : [[x(updates[i]), y(value)]],
  );
  const path = element('path', {
    d: line()(points) ?? '',
    fill: 'none',
    stroke: colour,
    'stroke-width': hasPoints ? 2 : 1.25,
  });
  const dots = hasPoints ? points : [];
  return [path, ...dots.map(([cx, cy]) => element('circle', { cx, cy, r: 3, fill: colour }))];
}

function ruleFrom(x1: number, y1: number, x2: number, y2: number, stroke: string): SVGElement {
  return element('line', { x1, y1, x2, y2, stroke });
}
