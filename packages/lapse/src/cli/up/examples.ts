// Reads the examples of the package, which `lapse up` applies on the first start.

import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

export interface Example {
  /** For example `01-job-ttl/job.yaml`. */
  readonly name: string;
  readonly text: string;
}

const COMES_WITH_US = fileURLToPath(new URL('../../../../../examples', import.meta.url));

/** `examples/<number>-<name>/*.yaml`, in order. 00 needs its own controller and is skipped. */
export function readExamples(directory = COMES_WITH_US): Example[] {
  if (!existsSync(directory)) return [];
  return readdirSync(directory, { withFileTypes: true })
    .filter((entry) => entry.isDirectory() && /^(?!00)\d\d-/.test(entry.name))
    .flatMap((entry) => filesOf(directory, entry.name))
    .sort((a, b) => (a.name < b.name ? -1 : 1));
}

const filesOf = (directory: string, folder: string): Example[] =>
  readdirSync(join(directory, folder))
    .filter((file) => file.endsWith('.yaml'))
    .map((file) => ({
      name: `${folder}/${file}`,
      text: readFileSync(join(directory, folder, file), 'utf8'),
    }))
    // A LapseConfiguration is read by `lapse run --config`. No API server accepts it.
    .filter(({ text }) => !/^kind: LapseConfiguration$/m.test(text));
