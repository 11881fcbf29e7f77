// A real browser for tests: CHROMIUM, one on the PATH, or Debian's. If none of these works, the reason.

import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { onPath, unpacked } from '../debian.ts';

export interface Chromium {
  readonly path: string;
  /** Directory of libraries that the machine lacks; empty for an installed browser. */
  readonly libraries: readonly string[];
}

export type Found = { readonly chromium: Chromium } | { readonly missing: string };

export async function findChromium(): Promise<Found> {
  const installed = process.env.CHROMIUM || onPath('chromium', 'chromium-browser', 'google-chrome');
  if (installed) return { chromium: { path: installed, libraries: [] } };
  const found = await unpacked('chromium', ['chromium', 'fonts-dejavu-core']);
  return 'missing' in found ? found : { chromium: unpackedIn(found.root) };
}

function unpackedIn(root: string): Chromium {
  const libraries = ['usr/lib', 'lib']
    .map((part) => join(root, part))
    .filter(existsSync)
    .flatMap((part) => readdirSync(part, { recursive: true, withFileTypes: true }))
    .filter((entry) => /\.so(\.|$)/.test(entry.name))
    .map((entry) => entry.parentPath);
  // The wrapper in usr/bin reads files of a complete installation; the program itself needs none.
  return { path: join(root, 'usr/lib/chromium/chromium'), libraries: [...new Set(libraries)] };
}
