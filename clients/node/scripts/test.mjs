// Runs the tests that scripts/build.mjs --tests has built. What stands behind the command goes to node: --test-name-pattern=…
import { spawnSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const folder = path.join(path.dirname(path.dirname(fileURLToPath(import.meta.url))), 'build', 'test');
const files = readdirSync(folder).filter((name) => name.endsWith('.test.js'));
const done = spawnSync(
  process.execPath,
  ['--test', '--enable-source-maps', ...process.argv.slice(2), ...files.map((name) => path.join(folder, name))],
  {
    stdio: 'inherit',
  },
);
process.exitCode = done.status ?? 1;
