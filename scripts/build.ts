// npm run build: compiles src to dist, what the published package runs. The layer imports (#api/…) stay as they are and
// are mapped by a package.json of dist's own.

import { execFileSync } from 'node:child_process';
import { cpSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';

const root = join(import.meta.dirname, '..');
const dist = join(root, 'dist');

rmSync(dist, { recursive: true, force: true });
execFileSync(join(root, 'node_modules/.bin/tsc'), ['-p', join(root, 'tsconfig.build.json')], {
  stdio: 'inherit',
});

for (const entry of readdirSync(join(root, 'src'), { recursive: true, withFileTypes: true })) {
  if (!entry.isFile() || !entry.name.endsWith('.json')) continue;
  const file = relative(join(root, 'src'), join(entry.parentPath, entry.name));
  cpSync(join(root, 'src', file), join(dist, file));
}

const { imports } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
  imports: Record<string, string>;
};
const mapped = Object.fromEntries(
  Object.entries(imports).map(([name, path]) => [name, path.replace('./src/', './').replace(/\.ts$/, '.js')]),
);
writeFileSync(
  join(dist, 'package.json'),
  `${JSON.stringify({ type: 'module', imports: mapped }, null, 2)}\n`,
);
