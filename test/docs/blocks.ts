// The code blocks of a page: language, text, and the file name that the first line of a program gives.

import { readFileSync } from 'node:fs';

export interface Block {
  readonly language: string;
  readonly text: string;
  /** `// count-entries.ts` in its first line. */
  readonly file?: string;
}

export function blocksOf(page: string): Block[] {
  const text = readFileSync(page, 'utf8');
  return [...text.matchAll(/^```(\w*)\n(.*?)^```$/gms)].map(([, language = '', body = '']) => {
    const file = /^\/\/ ([\w.-]+\.ts)\n/.exec(body)?.[1];
    return { language, text: body, ...(file === undefined ? {} : { file }) };
  });
}
