// What was said on the command line; run.mjs tells what it means.
import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

const root = fileURLToPath(new URL('../..', import.meta.url));

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    program: { type: 'string', default: `${root}/build/release/heed` },
    chromium: { type: 'string', default: '/usr/bin/chromium' },
    model: { type: 'string' },
    screenshots: { type: 'string' },
  },
});

export const options = {
  program: resolve(values.program),
  chromium: values.chromium,
  model: values.model && resolve(values.model),
  screenshots: values.screenshots && resolve(values.screenshots),
  web: `${root}/web`,
  views: positionals,
};
