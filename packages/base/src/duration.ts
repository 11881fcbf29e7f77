// Parses Go durations. Errors use the wording of Go.

import { GoDurationError, parseGoDuration } from './goDuration.ts';
import { type Millis, millis } from './instant.ts';

export type ParsedDuration =
  | { readonly kind: 'length'; readonly length: Millis }
  | { readonly kind: 'invalid'; readonly error: string };

/** Rounds up to milliseconds, so that nothing expires early. */
export function readDuration(text: string): ParsedDuration {
  try {
    const nanos = parseGoDuration(text);
    return { kind: 'length', length: millis(Math.ceil(Number(nanos) / 1e6)) };
  } catch (error) {
    if (error instanceof GoDurationError) return { kind: 'invalid', error: error.message };
    throw error;
  }
}

/** Parses a setting that must be a duration above zero. Throws an error with a message for the operator. */
export function requireDuration(setting: string, text: string): Millis {
  const parsed = readDuration(text);
  if (parsed.kind === 'invalid')
    throw new Error(`${setting}: ${parsed.error} (a Go duration such as 10m or 24h)`);
  if (parsed.length <= 0) throw new Error(`${setting}: ${text} is not above zero`);
  return parsed.length;
}
