// Where a word stands before anybody has moved it.
import { reach, type Word } from './state';
import { toTenths } from './matrix';

// Placed by hand: to the right what belongs to a night outdoors, upwards what belongs to a game.
const placed: Record<string, [number, number]> = {
  bat: [3, 3],
  cave: [4, 0],
  racket: [0, 5],
  night: [5, 0.5],
  dark: [4.5, -0.8],
  wings: [4, 1.2],
  flies: [3.5, 1.8],
  ball: [0.8, 4],
  hits: [1.5, 3.4],
  game: [-0.5, 4.4],
  player: [-0.8, 3.6],
  the: [0.3, 0.2],
  a: [0.2, 0.3],
  in: [0.8, -0.6],
  with: [-0.6, 0.8],
  and: [-0.4, -0.3],
};

export function isPlaced(name: string): boolean {
  return Object.hasOwn(placed, key(name));
}

// The rule for all other words: every letter is a step of the same length in a direction of its own
// (its code times the golden angle), and the walk is scaled so that long words stay in sight.
const goldenAngle = Math.PI * (3 - Math.sqrt(5));
const stride = 3;

export function vectorOf(name: string): [number, number] {
  const word = key(name);
  if (isPlaced(word)) return placed[word];
  const letters = [...word];
  let [x, y] = [0, 0];
  for (const letter of letters) {
    const angle = letter.codePointAt(0)! * goldenAngle;
    x += Math.cos(angle);
    y += Math.sin(angle);
  }
  const scale = stride / Math.sqrt(Math.max(letters.length, 1));
  return [within(x * scale), within(y * scale)];
}

export function wordOf(name: string): Word {
  return [name, ...vectorOf(name)];
}

// Whether a word stands where the rule of letters put it.
export function isByLetters([name, x, y]: Word): boolean {
  const [ruleX, ruleY] = vectorOf(name);
  return !isPlaced(name) && x === ruleX && y === ruleY;
}

function key(name: string): string {
  return name.normalize('NFC').toLowerCase();
}

function within(value: number): number {
  return toTenths(Math.min(Math.max(value, -reach), reach));
}
