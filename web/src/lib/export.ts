// Pictures and views as files: SVG, PNG, CSV, JSON, and one HTML file that needs nothing else.
import { exact } from './format';

export interface Table {
  columns: string[];
  rows: (string | number | null)[][];
}

export function save(name: string, type: string, content: string | Blob) {
  const blob = typeof content === 'string' ? new Blob([content], { type }) : content;
  const link = document.createElement('a');
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}

// RFC 4180, with the shortest decimals that are the same floats.
export function csvOf({ columns, rows }: Table): string {
  return [columns, ...rows].map((row) => row.map(csvField).join(',')).join('\r\n') + '\r\n';
}

function csvField(value: string | number | null): string {
  if (value === null) return '-inf';
  const text = typeof value === 'number' ? exact(value).replace('−∞', '-inf') : value;
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

export function jsonOf(data: unknown): string {
  return JSON.stringify(data, null, 2) + '\n';
}

// What a stylesheet may say about the elements of a picture; inside a lone SVG these become attributes.
const svgProperties = [
  'fill',
  'fill-opacity',
  'stroke',
  'stroke-width',
  'stroke-opacity',
  'stroke-dasharray',
  'stroke-linecap',
  'stroke-linejoin',
  'opacity',
  'visibility',
  'font-family',
  'font-size',
  'font-weight',
  'font-style',
  'text-anchor',
  'dominant-baseline',
  'paint-order',
  'font-variant-numeric',
] as const;

// The picture as one file: the page's styles are written into it, and it has the page's ground.
export function svgOf(picture: SVGSVGElement): string {
  const copy = picture.cloneNode(true) as SVGSVGElement;
  const originals = [picture, ...picture.querySelectorAll<SVGElement>('*')];
  const copies = [copy, ...copy.querySelectorAll<SVGElement>('*')];
  originals.forEach((original, i) => takeStyles(original, copies[i]));
  for (const hidden of copy.querySelectorAll('[data-export="no"]')) hidden.remove();

  const { x, y, width, height } = boxOf(picture);
  copy.setAttribute('xmlns', 'http://www.w3.org/2000/svg');
  copy.setAttribute('viewBox', [x, y, width, height].join(' '));
  copy.setAttribute('width', String(width));
  copy.setAttribute('height', String(height));
  copy.prepend(ground(x, y, width, height));
  return new XMLSerializer().serializeToString(copy);
}

// The picture's own coordinates: its view box, or its pixels without one.
function boxOf(picture: SVGSVGElement): { x: number; y: number; width: number; height: number } {
  const box = picture.viewBox.baseVal;
  if (box.width > 0) return box;
  const { width, height } = picture.getBoundingClientRect();
  return { x: 0, y: 0, width, height };
}

function takeStyles(original: SVGElement, copy: SVGElement) {
  const style = getComputedStyle(original);
  copy.removeAttribute('class');
  copy.removeAttribute('style');
  if (style.display === 'none') copy.setAttribute('display', 'none');
  for (const property of svgProperties) {
    const value = style.getPropertyValue(property);
    if (value !== '') copy.setAttribute(property, value);
  }
}

function ground(x: number, y: number, width: number, height: number): SVGRectElement {
  const rect = document.createElementNS('http://www.w3.org/2000/svg', 'rect');
  for (const [name, value] of Object.entries({ x, y, width, height })) {
    rect.setAttribute(name, String(value));
  }
  rect.setAttribute(
    'fill',
    getComputedStyle(document.documentElement).getPropertyValue('--card').trim(),
  );
  return rect;
}

const pngScale = 2; // sharp on dense screens and in print

export async function pngOf(picture: SVGSVGElement | HTMLCanvasElement): Promise<Blob> {
  const canvas = picture instanceof HTMLCanvasElement ? picture : await drawn(picture);
  return new Promise((resolve, reject) =>
    canvas.toBlob(
      (blob) => (blob ? resolve(blob) : reject(new Error('png: no picture'))),
      'image/png',
    ),
  );
}

async function drawn(picture: SVGSVGElement): Promise<HTMLCanvasElement> {
  const { width, height } = boxOf(picture);
  const url = URL.createObjectURL(new Blob([svgOf(picture)], { type: 'image/svg+xml' }));
  const image = new Image();
  image.src = url;
  await image.decode();
  const canvas = document.createElement('canvas');
  canvas.width = Math.ceil(width * pngScale);
  canvas.height = Math.ceil(height * pngScale);
  canvas.getContext('2d')!.drawImage(image, 0, 0, canvas.width, canvas.height);
  URL.revokeObjectURL(url);
  return canvas;
}

// A view as it stands, in one file: its elements, the page's styles, its canvases as pictures, and
// the data behind it as JSON. Nothing in the file runs. The styles join as text: as an element they
// would already be refused here, by the policy of this page.
export function htmlOf(view: HTMLElement, title: string, data: unknown): string {
  const file = document.implementation.createHTMLDocument(title);
  const root = document.documentElement;
  for (const { name, value } of root.attributes) file.documentElement.setAttribute(name, value);
  const policy = file.createElement('meta');
  policy.httpEquiv = 'Content-Security-Policy';
  policy.content = "default-src 'none'; style-src 'unsafe-inline'; img-src data:";
  const charset = file.createElement('meta');
  charset.setAttribute('charset', 'utf-8');
  file.head.prepend(charset, policy);
  file.head.append(dataBlock(file, data));
  file.body.append(file.importNode(frozen(view), true));
  const styles = `<style>\n${allStyles()}\n</style>`;
  return `<!doctype html>\n${file.documentElement.outerHTML.replace('</head>', () => `${styles}</head>`)}\n`;
}

function allStyles(): string {
  return [...document.styleSheets]
    .flatMap((sheet) => [...sheet.cssRules].map((rule) => rule.cssText))
    .join('\n');
}

// JSON in a block that browsers do not run; "<" is written so that nothing inside can end the block.
function dataBlock(file: Document, data: unknown): HTMLScriptElement {
  const block = file.createElement('script');
  block.type = 'application/json';
  block.id = 'data';
  block.textContent = JSON.stringify(data).replaceAll('<', '\\u003c');
  return block;
}

// A copy whose fields show what they hold now and whose canvases are pictures.
function frozen(view: HTMLElement): HTMLElement {
  const copy = view.cloneNode(true) as HTMLElement;
  const pairs = <E extends Element>(selector: string): [E, E][] => {
    const copies = copy.querySelectorAll<E>(selector);
    return [...view.querySelectorAll<E>(selector)].map((element, i) => [element, copies[i]]);
  };
  for (const [field, twin] of pairs<HTMLInputElement>('input')) {
    twin.setAttribute('value', field.value);
    twin.toggleAttribute('checked', field.checked);
    twin.toggleAttribute('disabled', true);
  }
  for (const [field, twin] of pairs<HTMLTextAreaElement>('textarea'))
    twin.textContent = field.value;
  for (const [field, twin] of pairs<HTMLSelectElement>('select')) {
    [...twin.options].forEach((option, i) =>
      option.toggleAttribute('selected', i === field.selectedIndex),
    );
  }
  for (const [canvas, twin] of pairs<HTMLCanvasElement>('canvas'))
    twin.replaceWith(pictureOf(canvas));
  for (const hidden of copy.querySelectorAll('[data-export="no"], dialog:not([open])'))
    hidden.remove();
  return copy;
}

function pictureOf(canvas: HTMLCanvasElement): HTMLImageElement {
  const image = document.createElement('img');
  image.src = canvas.toDataURL('image/png');
  image.alt = canvas.getAttribute('aria-label') ?? '';
  const { width, height } = canvas.getBoundingClientRect();
  image.width = Math.round(width);
  image.height = Math.round(height);
  image.className = canvas.className;
  image.style.cssText = canvas.style.cssText;
  return image;
}

// What the open view puts beside its picture when it is saved whole.
let dataOfView: () => unknown = () => null;

export function viewData(): unknown {
  return dataOfView();
}

// Made for $effect: the view's data while it is open.
export function useViewData(data: () => unknown): () => void {
  dataOfView = data;
  return () => {
    if (dataOfView === data) dataOfView = () => null;
  };
}
