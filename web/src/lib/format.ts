// How numbers are written. The engine computes in 32-bit floats, which arrive as the exact doubles
// of these floats.

const digitsOfAFloat = 9; // that many significant digits tell every float from its neighbours

// The shortest decimal that is the same float again; of a number that is no float, of the double.
// Made to be copied: a plain hyphen is the minus sign. The sign of a zero is a bit, too.
export function exact(value: number | null): string {
  if (value === null || value === -Infinity) return negativeInfinity;
  if (Object.is(value, -0)) return '-0';
  for (let digits = 1; digits <= digitsOfAFloat; ++digits) {
    const short = Number(value.toPrecision(digits));
    if (Math.fround(short) === value) return String(short);
  }
  return String(value);
}

// Rounded for a label; `exact` belongs beside it, in a tooltip or a table.
export function rounded(value: number | null, decimals = 2): string {
  if (value === null || !Number.isFinite(value)) return exact(value);
  const text = value.toFixed(decimals);
  return withMinus(Number(text) === 0 ? text.replace('-', '') : text);
}

export function percent(share: number, decimals = 0): string {
  return `${rounded(100 * share, decimals)} %`;
}

// 12345678 -> "12,345,678"
export function counted(value: number): string {
  return value.toLocaleString('en-US');
}

export const negativeInfinity = '−∞';

// The minus sign of print is as wide as a digit; `parsed` reads it, too.
function withMinus(text: string): string {
  return text.replace(/^-/, '−');
}

// The number that a person typed or copied from the page; null if it is none.
export function parsed(text: string): number | null {
  const plain = text.trim().replace(/^−/, '-').replace(',', '.');
  if (plain === '') return null;
  const value = Number(plain);
  return Number.isFinite(value) ? value : null;
}
