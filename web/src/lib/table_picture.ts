// A table of coloured cells as a picture, for saving: on the page it is a table, so that everybody
// can read it.
import { css, inkOn, type Colour } from './palette';
import { element, label } from './svg';

export interface PictureCell {
  text: string;
  colour: Colour;
}

const cell = { width: 64, height: 32, gap: 2 };
const margin = { left: 96, top: 32 };

export function tablePicture(
  rows: string[],
  columns: string[],
  cells: PictureCell[][],
): SVGSVGElement {
  const width = margin.left + columns.length * (cell.width + cell.gap);
  const height = margin.top + rows.length * (cell.height + cell.gap);
  const svg = element('svg', {
    viewBox: `0 0 ${width} ${height}`,
    'font-family': 'sans-serif',
    'font-size': 13,
  });
  const ink = getComputedStyle(document.documentElement).getPropertyValue('--ink').trim();
  const x = (j: number) => margin.left + j * (cell.width + cell.gap);
  const y = (i: number) => margin.top + i * (cell.height + cell.gap);

  columns.forEach((name, j) => svg.append(label(name, x(j) + cell.width / 2, 20, 'middle', ink)));
  rows.forEach((name, i) => svg.append(label(name, margin.left - 8, y(i) + 21, 'end', ink)));
  cells.forEach((row, i) =>
    row.forEach(({ text, colour }, j) => {
      const { width, height } = cell;
      svg.append(element('rect', { x: x(j), y: y(i), width, height, rx: 4, fill: css(colour) }));
      svg.append(label(text, x(j) + width / 2, y(i) + 21, 'middle', inkOn(colour)));
    }),
  );
  return svg as SVGSVGElement;
}
