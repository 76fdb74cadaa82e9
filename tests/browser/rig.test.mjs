// The tests' own tools.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { options } from './options.mjs';

describe('A test', () => {
  it('ends at once, with the reason, when its browser dies', async () => {
    const script = fileURLToPath(new URL('dying_browser.mjs', import.meta.url));
    const test = spawn(process.execPath, [script, '--chromium', options.chromium], {
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    let complaint = '';
    test.stderr.on('data', (bytes) => (complaint += bytes));
    const [code] = await once(test, 'close');
    assert.equal(code, 1);
    assert.match(complaint, /chromium was ended by SIGKILL/);
  });
});
