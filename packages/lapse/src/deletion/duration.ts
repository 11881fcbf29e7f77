// Go durations as lengths of time, with Go's own words for what is wrong.

import { GoDurationError, parseGoDuration } from '@lapse/base/goDuration';
import { type Millis, millis } from '@lapse/base/instant';

export type ParsedDuration =
  | { readonly kind: 'length'; readonly length: Millis }
  | { readonly kind: 'invalid'; readonly error: string };

/** Rounded up to milliseconds, so that nothing ends early. */
export function readDuration(text: string): ParsedDuration {
  try {
    const nanos = parseGoDuration(text);
    return { kind: 'length', length: millis(Math.ceil(Number(nanos) / 1e6)) };
  } catch (error) {
    if (error instanceof GoDurationError) return { kind: 'invalid', error: error.message };
    throw error;
  }
}

/** A setting that must be a length above zero; throws what an operator has to read. */
export function requireDuration(setting: string, text: string): Millis {
  const parsed = readDuration(text);
  if (parsed.kind === 'invalid')
    throw new Error(`${setting}: ${parsed.error} (a Go duration such as 10m or 24h)`);
  if (parsed.length <= 0) throw new Error(`${setting}: ${text} is not above zero`);
  return parsed.length;
}
