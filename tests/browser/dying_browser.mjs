// A test whose browser is killed while it waits for something that will not come: for rig.test.mjs.
import { startBrowser } from './rig.mjs';

const browser = await startBrowser();
const context = await browser.newContext();
const page = await context.newPage();
const element = page.locator('#nowhere').waitFor({ timeout: 0 });
browser.process.kill('SIGKILL');
await element.catch(() => new Promise(() => setInterval(() => {}, 1000)));
