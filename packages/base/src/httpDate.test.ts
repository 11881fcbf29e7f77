import { describe, expect, it } from 'vitest';
import { formatHttpDate, parseHttpDate } from './httpDate.ts';
import { instant } from './instant.ts';

describe('parseHttpDate', () => {
  it.each([
    ['the example in the RFC', 'Sun, 06 Nov 1994 08:49:37 GMT', 784_111_777_000],
    ['the epoch', 'Thu, 01 Jan 1970 00:00:00 GMT', 0],
    ['a leap day', 'Thu, 29 Feb 2024 23:59:59 GMT', 1_709_251_199_000],
    ['a day that does not exist', 'Fri, 31 Feb 2025 00:00:00 GMT', undefined],
    ['an hour that does not exist', 'Sun, 06 Nov 1994 24:00:00 GMT', undefined],
    ['the RFC 850 form', 'Sunday, 06-Nov-94 08:49:37 GMT', undefined],
    ['the asctime form', 'Sun Nov  6 08:49:37 1994', undefined],
    ['another zone', 'Sun, 06 Nov 1994 08:49:37 CET', undefined],
    ['RFC 3339', '1994-11-06T08:49:37Z', undefined],
    ['nothing', '', undefined],
    ['text', 'soon', undefined],
  ] as const)('%s', (_name, text, at) => {
    expect(parseHttpDate(text)).toBe(at);
  });

  it('parses the output of formatHttpDate, without the fraction', () => {
    expect(parseHttpDate(formatHttpDate(instant(1_700_000_000_999)))).toBe(1_700_000_000_000);
  });
});
