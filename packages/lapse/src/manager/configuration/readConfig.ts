// Reads the file of --config.

import { readFileSync } from 'node:fs';
import { explained } from '../usage.ts';

export const readConfig = (name: string) => ({
  name,
  text: explained(`--config ${name}`, () => readFileSync(name, 'utf8')),
});
