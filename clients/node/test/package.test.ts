// The package as npm makes it: what is in it, and how it is loaded.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { suite, test } from 'node:test';

const TOP = path.join(__dirname, '..', '..');
const MANIFEST = JSON.parse(readFileSync(path.join(TOP, 'package.json'), 'utf8')) as Record<string, unknown> & { version: string };

const run = (command: string, parameters: string[], cwd: string): string =>
  // npm passes on what it is itself run with.
  execFileSync(command, parameters, {
    cwd,
    encoding: 'utf8',
    timeout: 400_000,
    env: { PATH: process.env['PATH'], HOME: process.env['HOME'] },
  });

/** Everything that the README shows, as one program. */
function readmeProgram(): string {
  const blocks = [...readFileSync(path.join(TOP, 'README.md'), 'utf8').matchAll(/```[jt]s\n(.*?)```/gs)].map(([, code]) => code!);
  assert.ok(blocks.length >= 5);
  const [first, ...others] = blocks;
  return `import { ReplyError } from 'handlersocket2';\ndeclare function slowly(row: object): Promise<void>;\n${first}${others.join('')}`;
}

suite('the package', () => {
  test('npm would take it, and it has what it needs', () => {
    const [packed] = JSON.parse(run('npm', ['pack', '--dry-run', '--json', '--ignore-scripts', '--offline'], TOP)) as {
      name: string;
      files: { path: string }[];
      unpackedSize: number;
    }[];
    const files = packed!.files.map((file) => file.path);
    assert.equal(packed!.name, 'handlersocket2');
    for (const file of [
      'package.json',
      'README.md',
      'CHANGELOG.md',
      'LICENSE',
      'dist/index.js',
      'dist/index.mjs',
      'dist/index.d.ts',
      'dist/index.d.mts',
    ]) {
      assert.ok(files.includes(file), file);
    }
    assert.deepEqual(
      files.filter((file) => !/^dist\/[\w-]+(\.d)?\.m?(js|ts)$/.test(file) && file.startsWith('dist')),
      [],
    );
    assert.ok(!files.some((file) => /^(src|test|build|node_modules|scripts)\//.test(file)));
    assert.ok(packed!.unpackedSize < 300_000);
  });

  test('it depends on nothing, and the others are pinned', () => {
    for (const kind of ['dependencies', 'peerDependencies', 'optionalDependencies', 'bundleDependencies'])
      assert.equal(MANIFEST[kind], undefined);
    for (const version of Object.values(MANIFEST['devDependencies'] as object)) assert.match(String(version), /^\d+\.\d+\.\d+$/);
  });

  test('its changelog begins with its version', () => {
    const [, version, state] = /^## (\S+)(.*)$/m.exec(readFileSync(path.join(TOP, 'CHANGELOG.md'), 'utf8'))!;
    assert.equal(MANIFEST.version, state === ' (not released yet)' ? `${version}-dev.0` : version);
  });

  test('installed: by import, by require, and both are the same', () => {
    const folder = mkdtempSync(path.join(tmpdir(), 'hs-package-'));
    try {
      const [packed] = JSON.parse(run('npm', ['pack', '--json', '--ignore-scripts', '--offline', '--pack-destination', folder], TOP)) as {
        filename: string;
      }[];
      const place = path.join(folder, 'node_modules', 'handlersocket2');
      mkdirSync(place, { recursive: true });
      run('tar', ['xf', path.join(folder, packed!.filename), '-C', place, '--strip-components=1'], folder);
      const program = `
        import * as module from 'handlersocket2';
        import { Client, ReplyError } from 'handlersocket2';
        import { createRequire } from 'node:module';
        const required = createRequire(import.meta.url)('handlersocket2');
        if (Object.keys(module).join() !== Object.keys(required).sort().join()) throw new Error(Object.keys(module).join());
        for (const name of Object.keys(required)) if (module[name] !== required[name]) throw new Error(name);
        console.log(new Client('handlersocket://user@db/app').toString(), typeof ReplyError);`;
      writeFileSync(path.join(folder, 'program.mjs'), program);
      assert.equal(run(process.execPath, ['program.mjs'], folder), 'handlersocket2 client of user@db:9998/app function\n');
      // Its types are right for both kinds of programs.
      const typed = `import { Client, type Index } from 'handlersocket2';
        const client: Client = new Client();
        const index: Index<{ id: bigint; name: string | null }> = client.index({ database: 'd', table: 't', columns: { id: 'bigint', name: 'string?' } });
        export const one: Promise<bigint | undefined> = index.findOne(1).then((row) => row?.id);
        // @ts-expect-error: not everything is allowed
        export const two: Promise<string> = index.findOne(1);\n`;
      const names = ['program.mts', 'program.cts', 'readme.mts'];
      for (const name of names) writeFileSync(path.join(folder, name), name.startsWith('readme') ? readmeProgram() : typed);
      const compiler = path.join(TOP, 'node_modules', 'typescript', 'bin', 'tsc');
      const types = path.join(TOP, 'node_modules', '@types');
      const options = [
        '--noEmit',
        '--strict',
        '--target',
        'es2022',
        '--module',
        'node16',
        '--skipLibCheck',
        '--typeRoots',
        types,
        '--types',
        'node',
      ];
      run(process.execPath, [compiler, ...options, ...names], folder);
      // And for a compiler that was told nothing: it looks into the declarations, knows no default of node's modules, and an old language.
      writeFileSync(path.join(folder, 'plain.ts'), typed);
      const plain = ['--noEmit', '--strict', '--module', 'commonjs', '--typeRoots', types, '--types', 'node'];
      run(process.execPath, [compiler, ...plain, 'plain.ts'], folder);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});
