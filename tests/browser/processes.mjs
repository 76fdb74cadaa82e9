// Processes that a test starts. One that dies before it is told to ends the whole test at once, with
// its exit code or signal and the last lines of its standard error. None outlives the test, also when
// it fails or is interrupted.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeSync } from 'node:fs';
import { constants } from 'node:os';
import { createInterface } from 'node:readline';

const linesKept = 20;
const msForLastLines = 1000; // a browser's own children may hold its standard error open for longer
const alive = new Set(); // child processes

process.on('exit', () => alive.forEach((child) => child.kill('SIGKILL')));
for (const signal of ['SIGHUP', 'SIGINT', 'SIGTERM']) {
  process.on(signal, () => process.exit(128 + constants.signals[signal]));
}

// Ends the test: whatever it waits for will not come.
export function abort(reason) {
  writeSync(2, `\n${reason}\n`);
  process.exit(1);
}

// A child process that lives until end() is called.
export class WatchedProcess {
  #isEnding = false;
  #lastLines = [];

  constructor(name, child) {
    this.child = child;
    this.lines = createInterface({ input: child.stderr });
    this.lines.on('line', (line) => {
      this.#lastLines = [...this.#lastLines, line].slice(-linesKept);
    });
    alive.add(child);
    child.once('error', (error) => abort(`${name} could not be started: ${error.message}`));
    child.once('exit', (code, signal) => {
      alive.delete(child);
      if (this.#isEnding) return;
      const cause = signal ? `was ended by ${signal}` : `ended with exit code ${code}`;
      const report = () => abort(`${name} ${cause}. The end of its standard error:\n${this.#end()}`);
      child.once('close', report);
      setTimeout(report, msForLastLines);
    });
  }

  #end() {
    return this.#lastLines.map((line) => `  ${line}`).join('\n') || '  (nothing)';
  }

  static start(command, args, environment = process.env) {
    const stdio = ['ignore', 'ignore', 'pipe'];
    const child = spawn(command, args, { stdio, env: environment });
    return new WatchedProcess([command, ...args].join(' '), child);
  }

  // From now on it may end by itself.
  release() {
    this.#isEnding = true;
  }

  // Sends a signal, waits for the end and returns the exit code; null if the signal ended it.
  async end(signal) {
    this.release();
    if (alive.has(this.child)) {
      this.child.kill(signal);
      await once(this.child, 'close');
    }
    return this.child.exitCode;
  }
}
