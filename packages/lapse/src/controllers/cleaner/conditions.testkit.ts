// For tests of conditions: programs and times.

import { instant } from '@lapse/base/instant';
import { compile, conditionEnvironment, DYN, type Program } from '@lapse/cel/cel';

export const NOW = instant(Date.parse('2026-03-01T00:00:00Z'));

export const program = (text: string, ...variables: string[]): Program => {
  const compiled = compile(text, conditionEnvironment(Object.fromEntries(variables.map((v) => [v, DYN]))));
  if (compiled.kind === 'invalid') throw new Error(compiled.message);
  return compiled.program;
};

export const ago = (length: number) => new Date(NOW - length).toISOString().replace('.000', '');
