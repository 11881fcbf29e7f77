// Answers for programs.

import { stringify } from 'yaml';

/** `-o`. */
export type Format = 'text' | 'json' | 'yaml';
export const FORMATS: readonly Format[] = ['text', 'json', 'yaml'];

export const documentText = (document: object, format: 'json' | 'yaml'): string =>
  format === 'json'
    ? `${JSON.stringify(document, null, 2)}\n`
    : stringify(document, { lineWidth: 0, aliasDuplicateObjects: false });
