// Which labels of a long list can be written without touching: every so-manieth.

export function labelsThatFit(count: number, pitch: number, lineHeight: number): number[] {
  const every = Math.max(1, Math.ceil(lineHeight / pitch));
  return Array.from({ length: Math.ceil(count / every) }, (_, i) => i * every);
}
