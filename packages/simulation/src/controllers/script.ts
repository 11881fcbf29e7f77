// Parses the annotation that controls the simulated storage system: `5s` (succeed after that time), `error: text` (fail),
// `never`. Default: succeed after one second.

import { readGoDuration } from '@lapse/base/goDuration';
import { type Millis, millis, seconds } from '@lapse/base/instant';

export type Script =
  | { readonly kind: 'succeed'; readonly after: Millis }
  | { readonly kind: 'fail'; readonly message: string; readonly after: Millis }
  | { readonly kind: 'never' }
  | { readonly kind: 'invalid'; readonly problem: string };

const USUAL = seconds(1);

export function parseScript(key: string, text: string | undefined): Script {
  if (text === undefined) return { kind: 'succeed', after: USUAL };
  const trimmed = text.trim();
  if (trimmed === 'never') return { kind: 'never' };
  if (trimmed.startsWith('error:'))
    return {
      kind: 'fail',
      message: trimmed.slice('error:'.length).trim() || 'failed as annotated',
      after: USUAL,
    };
  const nanos = readGoDuration(trimmed);
  if (nanos === undefined || nanos < 0n)
    return {
      kind: 'invalid',
      problem: `${key}: ${JSON.stringify(text.slice(0, 100))} is not "5s", "error: text" or "never"`,
    };
  return { kind: 'succeed', after: millis(Number(nanos / 1_000_000n)) };
}
