// Colours that people who are colour-blind can tell apart, in light and in dark.
//
// Names are told apart by the set of Okabe and Ito (blue, orange, green, ...), never by red against
// green; amounts by lightness of one hue; differences by blue against orange.
import { readable } from 'svelte/store';
import { page } from './state';

export type Theme = 'light' | 'dark';
export type Colour = readonly [number, number, number];

const dark = window.matchMedia('(prefers-color-scheme: dark)');

// The theme as it is: the switch of the page, or what the system wishes.
export const theme = readable<Theme>('light', (set) => {
  const update = () => {
    const chosen = page.current().theme;
    set(chosen !== 'auto' ? chosen : dark.matches ? 'dark' : 'light');
  };
  const leave = page.subscribe(update);
  dark.addEventListener('change', update);
  return () => {
    leave();
    dark.removeEventListener('change', update);
  };
});

const names: Record<Theme, readonly string[]> = {
  light: ['#0062a8', '#b85c00', '#007a5a', '#a2427d', '#7a6a00', '#3f6fd1', '#8a3b12', '#4d5b66'],
  dark: ['#6cb6ff', '#f2a33a', '#3fc79a', '#e08cc0', '#e3d34a', '#a9c1ff', '#e38a63', '#a9b6c2'],
};

// The colour of the i-th word, head, line ...
export function nameColour(i: number, theme: Theme): string {
  return names[theme][i % names[theme].length];
}

const amounts: Record<Theme, readonly Colour[]> = {
  light: [
    [255, 255, 255],
    [207, 225, 245],
    [122, 172, 224],
    [35, 104, 181],
    [8, 40, 92],
  ],
  dark: [
    [21, 25, 31],
    [24, 52, 88],
    [37, 98, 166],
    [96, 165, 235],
    [222, 239, 255],
  ],
};

// 0 is the ground of the page, 1 the strongest tone.
export function amountColour(share: number, theme: Theme): Colour {
  return mixed(amounts[theme], share);
}

const differences: Record<Theme, readonly Colour[]> = {
  light: [
    [179, 88, 6],
    [241, 190, 120],
    [255, 255, 255],
    [140, 184, 228],
    [8, 81, 156],
  ],
  dark: [
    [255, 176, 84],
    [140, 84, 20],
    [21, 25, 31],
    [30, 84, 146],
    [120, 190, 255],
  ],
};

// -1 (orange) to 1 (blue), 0 is the ground.
export function differenceColour(value: number, theme: Theme): Colour {
  return mixed(differences[theme], (value + 1) / 2);
}

export function css([red, green, blue]: Colour): string {
  return `rgb(${red}, ${green}, ${blue})`;
}

// Black or white, whichever reads better on the colour.
export function inkOn([red, green, blue]: Colour): string {
  const light = 0.2126 * red + 0.7152 * green + 0.0722 * blue;
  return light > 140 ? '#10151c' : '#ffffff';
}

function mixed(stops: readonly Colour[], share: number): Colour {
  const place = Math.min(Math.max(share || 0, 0), 1) * (stops.length - 1);
  const left = Math.min(Math.floor(place), stops.length - 2);
  const [a, b] = [stops[left], stops[left + 1]];
  const mix = (i: number) => Math.round(a[i] + (b[i] - a[i]) * (place - left));
  return [mix(0), mix(1), mix(2)];
}
