// The code blocks of a page: language, text, and the file name that the first line of a program gives.

import { readFileSync } from 'node:fs';

export interface Block {
  readonly language: string;
  readonly text: string;
  /** `// count-entries.ts` in its first line. */
  readonly file?: string;
  /** The text after it says "Save it as `policy.yaml`". */
  readonly saved?: string;
  /** There is nothing between it and the previous block. */
  readonly follows: boolean;
}

export function blocksOf(page: string): Block[] {
  const text = readFileSync(page, 'utf8');
  let end = 0;
  return [...text.matchAll(/^```(\w*)\n(.*?)^```$/gms)].map(
    ({ 0: whole, 1: language = '', 2: body = '', index }) => {
      const file = /^\/\/ ([\w.-]+\.ts)\n/.exec(body)?.[1];
      const saved = /^\s*Save it as `([\w.-]+)`/.exec(text.slice(index + whole.length))?.[1];
      const follows = end > 0 && text.slice(end, index).trim() === '';
      end = index + whole.length;
      return {
        language,
        text: body,
        follows,
        ...(file === undefined ? {} : { file }),
        ...(saved === undefined ? {} : { saved }),
      };
    },
  );
}
