// How a piece of a word is written: the tokenizer's mark of a word's beginning becomes a space, and
// what cannot be seen gets a name.

const marks: Record<string, string> = { '\n': '⏎', '\t': '⇥', '': '␣' };

export function pieceLabel(piece: string): string {
  const text = piece.replaceAll('▁', ' ').trim();
  return marks[piece] ?? marks[text] ?? text;
}

export function shortLabel(label: string, longest = 14): string {
  const letters = [...label];
  return letters.length <= longest ? label : `${letters.slice(0, longest - 1).join('')}…`;
}

// About how wide a label is, in px of a small type: letters from Hangul and Han on are twice as wide.
export function labelWidth(label: string): number {
  const isWide = (letter: string) => letter.codePointAt(0)! >= 0x1100;
  return [...label].reduce((width, letter) => width + (isWide(letter) ? 13 : 7), 0);
}
