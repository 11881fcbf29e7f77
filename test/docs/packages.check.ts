// packages/*/README.md: the same sections in each, an example that compiles and prints the output the page shows, and
// names of files that exist.

import { execFileSync } from 'node:child_process';
import {
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { blocksOf } from './blocks.ts';

const root = join(import.meta.dirname, '../..');
const packages = readdirSync(join(root, 'packages'));
/** An example that waits forever fails instead of blocking the run. */
const TIMEOUT = 45_000;
const SECTIONS = ['Install', 'Example', 'How it is built', 'Limits'];

// Outside of node_modules, where Node does not strip types; the link makes `@lapse/…` and `lapse/…` resolve.
const scratch = mkdtempSync(join(tmpdir(), 'lapse-packages-'));
beforeAll(() => symlinkSync(join(root, 'node_modules'), join(scratch, 'node_modules')));
afterAll(() => rmSync(scratch, { recursive: true, force: true }));

const readmeOf = (name: string): string => join(root, 'packages', name, 'README.md');

/** The first `ts` block of a README, and the `text` block after it. Throws if either is missing. */
function exampleOf(name: string): { code: string; output: string } {
  const blocks = blocksOf(readmeOf(name));
  const first = blocks.findIndex(({ language }) => language === 'ts');
  if (first < 0) throw new Error(`packages/${name}/README.md has no \`\`\`ts block`);
  const next = blocks[first + 1];
  if (next?.language !== 'text')
    throw new Error(`packages/${name}/README.md has no \`\`\`text block after its first \`\`\`ts block`);
  return { code: blocks[first]!.text, output: next.text };
}

function writeExample(name: string): string {
  const file = join(scratch, `${name}.mts`);
  writeFileSync(file, exampleOf(name).code);
  return file;
}

describe.each(packages)('packages/%s/README.md', (name) => {
  test('has the sections of every package page, in order', () => {
    const headings = [...readFileSync(readmeOf(name), 'utf8').matchAll(/^## (.*)$/gm)].map((m) => m[1]!);
    expect(headings.filter((heading) => SECTIONS.includes(heading))).toEqual(SECTIONS);
  });

  test('shows an example that prints the output below it', () => {
    const options = { cwd: scratch, encoding: 'utf8', timeout: TIMEOUT } as const;
    const printed = execFileSync(process.execPath, [writeExample(name)], options);
    expect(printed).toBe(exampleOf(name).output);
  });

  test('names only files and folders that exist below src', () => {
    const named = [...readFileSync(readmeOf(name), 'utf8').matchAll(/`([\w./-]+(?:\.ts|\/))`/g)];
    const missing = named
      .map((m) => m[1]!)
      .filter((path) => !existsSync(join(root, 'packages', name, 'src', path)));
    expect(missing).toEqual([]);
    expect(named.length).toBeGreaterThan(5);
  });
});

test('the examples of all packages compile', () => {
  for (const name of packages) writeExample(name);
  const tsconfig = {
    extends: join(root, 'tsconfig.json'),
    compilerOptions: { typeRoots: [join(root, 'node_modules/@types')] },
    include: ['*.mts'],
  };
  writeFileSync(join(scratch, 'tsconfig.json'), JSON.stringify(tsconfig));
  const tsc = join(root, 'node_modules/.bin/tsc');
  // tsc reports errors on stdout, which the message of the exception does not include.
  expect(outputOf(process.execPath, [tsc, '-p', scratch])).toBe('');
});

function outputOf(program: string, args: string[]): string {
  try {
    return execFileSync(program, args, { encoding: 'utf8' });
  } catch (error) {
    return (error as { stdout?: string }).stdout || String(error);
  }
}
