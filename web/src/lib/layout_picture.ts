// What stands in a part of the page as one SVG, for saving: its canvases as images, and its lines of
// text, where they stand on the page; null while it is hidden.
import { element, label } from './svg';

export function layoutPicture(part: HTMLElement, texts: string): SVGSVGElement | null {
  const { left, top, width, height } = part.getBoundingClientRect();
  if (width === 0) return null;
  const svg = element('svg', {
    viewBox: `0 0 ${width} ${height}`,
    'font-family': getComputedStyle(part).fontFamily,
  });
  for (const canvas of part.querySelectorAll('canvas')) {
    const box = canvas.getBoundingClientRect();
    const image = element('image', {
      href: canvas.toDataURL(),
      x: box.left - left,
      y: box.top - top,
      width: box.width,
      height: box.height,
      preserveAspectRatio: 'none',
      'image-rendering': 'pixelated',
    });
    svg.append(image);
  }
  for (const line of part.querySelectorAll<HTMLElement>(texts)) {
    const { color, fontSize, fontWeight } = getComputedStyle(line);
    const box = line.getBoundingClientRect();
    const middle = box.top - top + box.height / 2;
    const made = label(line.innerText, box.left - left, middle, 'start', color);
    made.setAttribute('font-size', fontSize);
    made.setAttribute('font-weight', fontWeight);
    made.setAttribute('dominant-baseline', 'central');
    svg.append(made);
  }
  return svg as SVGSVGElement;
}
