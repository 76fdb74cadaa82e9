// 32-bit arithmetic as processors do it, for doing a calculation of the page again.

export const float = Math.fround;

// a * b + c, rounded once. The product of two floats is exact in a double; the sum is rounded to
// odd first, so that rounding it to a float afterwards rounds what is exact.
export function fma(a, b, c) {
  const product = a * b;
  const sum = product + c;
  if (!Number.isFinite(sum)) return float(sum);
  const back = sum - product;
  const lost = product - (sum - back) + (c - back);
  if (lost === 0) return float(sum);
  const view = new DataView(new ArrayBuffer(8));
  view.setFloat64(0, sum);
  const bits = view.getBigInt64(0);
  if (bits % 2n === 0n) view.setBigInt64(0, bits + (lost > 0 === sum > 0 ? 1n : -1n));
  return float(view.getFloat64(0));
}

const roundedTwice = (a, b, c) => float(float(a * b) + c);

// As the engine multiplies matrices, in the order that the page gives.
export function sumOfProducts(a, b, order) {
  const multiplyAdd = order.includes('fused') ? fma : roundedTwice;
  const chain = Number(order.match(/in chains of (\d+)/)?.[1] ?? a.length);
  let total = 0;
  for (let begin = 0; begin < a.length; begin += chain) {
    let sum = 0;
    for (let i = begin; i < Math.min(a.length, begin + chain); ++i) sum = multiplyAdd(a[i], b[i], sum);
    total = begin === 0 ? sum : float(sum + total);
  }
  return total;
}

// e^x for x <= 0 by the constants and in the order that the page gives.
export function expBelow(x, c) {
  if (x < c[11]) return 0;
  const shifted = fma(x, c[0], c[1]);
  const n = float(shifted - c[1]);
  const rest = fma(-n, c[3], fma(-n, c[2], x));
  let y = c[4];
  for (let i = 5; i <= 10; ++i) y = fma(y, rest, c[i]);
  return float(y * 2 ** n);
}

// As many sums as a vector has lanes; then the halves or the neighbours meet.
export function laneSum(values, order) {
  const lanes = Number(order.match(/(\d+) sums from 0/)[1]);
  let sums = new Array(lanes).fill(0);
  values.forEach((value, i) => (sums[i % lanes] = float(sums[i % lanes] + value)));
  while (sums.length > 1) {
    const half = sums.length / 2;
    const pairOf = order.includes('neighbours') ? (i) => [2 * i, 2 * i + 1] : (i) => [i, i + half];
    sums = Array.from({ length: half }, (_, i) => {
      const [a, b] = pairOf(i);
      return float(sums[a] + sums[b]);
    });
  }
  return sums[0];
}
