// Builds the package into dist/: CommonJS, and an ES module that gives the same objects, so that a program in which both are
// used has one class of clients and one of errors. With --tests it also builds the tests, into build/.
import { execFileSync } from 'node:child_process';
import { copyFileSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const top = path.dirname(path.dirname(fileURLToPath(import.meta.url)));
const require = createRequire(import.meta.url);
const compiler = require.resolve('typescript/bin/tsc');
const compile = (project, ...options) =>
  execFileSync(process.execPath, [compiler, '-p', path.join(top, project), ...options], { stdio: 'inherit' });
const dist = path.join(top, 'dist');

for (const folder of ['dist', 'build']) rmSync(path.join(top, folder), { recursive: true, force: true });
// Who reads comments does so in the declarations, where editors find them. In the code they would only make the package larger.
compile('tsconfig.json', '--removeComments', '--declaration', 'false');
compile('tsconfig.json', '--emitDeclarationOnly', '--noCheck');
// `#private` is refused in declarations by who compiles for a language before it. Another private member says the same: that two
// classes with the same methods are not the same class.
for (const name of readdirSync(dist).filter((file) => file.endsWith('.d.ts'))) {
  const file = path.join(dist, name);
  writeFileSync(file, readFileSync(file, 'utf8').replaceAll(/^( +)#private;$/gm, '$1private readonly _private;'));
}
const names = Object.keys(require(path.join(dist, 'index.js')));
writeFileSync(path.join(dist, 'index.mjs'), `import all from './index.js';\nexport const { ${names.join(', ')} } = all;\n`);
copyFileSync(path.join(dist, 'index.d.ts'), path.join(dist, 'index.d.mts'));
if (process.argv.includes('--tests')) compile('tsconfig.test.json');
