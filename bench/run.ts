// npm run bench -- NAME: runs bench/NAME/bench.ts. Results are ratios against a peer measured in the same run.

import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

const [name, ...args] = process.argv.slice(2);
const known = readdirSync(import.meta.dirname, { withFileTypes: true })
  .filter((e) => e.isDirectory() && existsSync(join(import.meta.dirname, e.name, 'bench.ts')))
  .map((e) => e.name);

if (name === undefined || !known.includes(name)) {
  process.stderr.write(`usage: npm run bench -- NAME\nknown: ${known.join(', ')}\n`);
  process.exitCode = 2;
} else {
  const module = (await import(`./${name}/bench.ts`)) as {
    default: (args: readonly string[]) => Promise<void>;
  };
  await module.default(args);
}
