import { svelte } from '@sveltejs/vite-plugin-svelte';
import { readFileSync, readdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { gzipSync } from 'node:zlib';
import { defineConfig, type Plugin } from 'vite';

const maxKilobytes = 400; // what the page may weigh, gzipped, so that it opens at once

function filesUnder(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    return entry.isDirectory() ? filesUnder(path) : [path];
  });
}

// Prints what the page weighs on the wire, and refuses one that is too heavy.
function weigh(): Plugin {
  let folder = 'dist';
  return {
    name: 'weigh',
    configResolved(config) {
      folder = resolve(config.root, config.build.outDir);
    },
    closeBundle() {
      const bytes = filesUnder(folder).map((file) => gzipSync(readFileSync(file)).length);
      const kilobytes = bytes.reduce((sum, size) => sum + size, 0) / 1000;
      console.log(`the page weighs ${kilobytes.toFixed(1)} kB gzipped, at most ${maxKilobytes} kB`);
      if (kilobytes > maxKilobytes) throw new Error('weigh: expected a lighter page');
    },
  };
}

export default defineConfig({
  plugins: [svelte(), weigh()],
  build: {
    target: 'es2022',
    emptyOutDir: true,
    assetsInlineLimit: 0, // the page's policy knows no data: scripts, styles or fonts
    modulePreload: { polyfill: false },
    cssCodeSplit: false,
    chunkSizeWarningLimit: 1200,
    reportCompressedSize: false,
    rollupOptions: {
      // Names without hashes: the program embeds the files, and nothing is cached.
      output: {
        entryFileNames: 'assets/page.js',
        chunkFileNames: 'assets/[name].js',
        assetFileNames: 'assets/[name][extname]',
      },
    },
  },
});
