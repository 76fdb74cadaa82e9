// The parts of pictures that are made for saving.

export function element(name: string, attributes: Record<string, string | number>): SVGElement {
  const made = document.createElementNS('http://www.w3.org/2000/svg', name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, String(value));
  return made;
}

export function label(
  text: string,
  x: number,
  y: number,
  anchor: string,
  fill: string,
): SVGElement {
  const made = element('text', { x, y, 'text-anchor': anchor, fill });
  made.textContent = text;
  return made;
}
