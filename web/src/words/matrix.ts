// A 2 x 2 matrix as the user sets it: four numbers, or a scaling, a shear and a rotation.
//
// Vectors are rows and stand on the left: (x, y) M. With M = [a b; c d] the step (1, 0) goes to (a, b)
// and (0, 1) to (c, d). The same four numbers in the same order are what SVG calls matrix(a b c d 0 0).

export type Flat = readonly [a: number, b: number, c: number, d: number];

export const identity: Flat = [1, 0, 0, 1];

// M = [stretchX 0; shear stretchY] times a turn: first stretch and shear, then turn.
export interface Moves {
  stretchX: number;
  stretchY: number;
  shear: number;
  degrees: number;
}

export function movesOf([a, b, c, d]: Flat): Moves {
  const stretchX = Math.hypot(a, b);
  const angle = stretchX > 0 ? Math.atan2(b, a) : Math.atan2(-c, d);
  const [cos, sin] = [Math.cos(angle), Math.sin(angle)];
  return {
    stretchX,
    stretchY: d * cos - c * sin,
    shear: c * cos + d * sin,
    degrees: (angle * 180) / Math.PI,
  };
}

export function matrixOf({ stretchX, stretchY, shear, degrees }: Moves): Flat {
  const angle = (degrees * Math.PI) / 180;
  const [cos, sin] = [Math.cos(angle), Math.sin(angle)];
  return [
    toThousandths(stretchX * cos),
    toThousandths(stretchX * sin),
    toThousandths(shear * cos - stretchY * sin),
    toThousandths(shear * sin + stretchY * cos),
  ];
}

export function isIdentity(matrix: Flat): boolean {
  return matrix.every((entry, i) => entry === identity[i]);
}

// What is set by hand has few digits, so that it can be read and the address stays short.
export function toThousandths(value: number): number {
  return Math.round(value * 1000) / 1000 + 0;
}

export function toTenths(value: number): number {
  return Math.round(value * 10) / 10 + 0;
}
