// Structured output for scripts.

import { terminalText } from './terminalText.ts';
import { yamlDocuments, yamlText } from './yaml.ts';

/** The value of `-o`. */
export type Format = 'text' | 'json' | 'yaml';
export const FORMATS: readonly Format[] = ['text', 'json', 'yaml'];

export const documentText = (document: object, format: 'json' | 'yaml'): string =>
  format === 'json' ? terminalText(`${JSON.stringify(document, null, 2)}\n`) : yamlText(document);

/** Objects to be applied: a stream of documents, or a List. */
export const objectsText = (items: readonly object[], format: 'json' | 'yaml'): string =>
  format === 'json' ? documentText({ apiVersion: 'v1', kind: 'List', items }, format) : yamlDocuments(items);
