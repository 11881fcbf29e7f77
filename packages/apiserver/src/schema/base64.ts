// Go's base64.StdEncoding: strict about alphabet and padding, ignores line breaks, and reports the byte of the first
// error.

export type Base64 = { ok: true; text: string } | { ok: false; problem: string };

const ALPHABET = /^[A-Za-z0-9+/]$/;
const refused = (at: number): Base64 => ({ ok: false, problem: `illegal base64 data at input byte ${at}` });

/** The same bytes in canonical form, or Go's error. Fast for canonical input. */
export function checkBase64(text: string): Base64 {
  if (isCanonical(text)) return { ok: true, text };
  const problem = findProblem(text);
  if (problem !== undefined) return refused(problem);
  return { ok: true, text: Buffer.from(text, 'base64').toString('base64') };
}

/** Go accepts padding bits that are not zero but does not write them back. */
const isCanonical = (text: string): boolean =>
  text.length % 4 === 0 &&
  /^[A-Za-z0-9+/]*(?:[AEIMQUYcgkosw048]=|[AQgw]==)?$/.test(text) &&
  (text.length === 0 || text.length >= 4);

/** Index of the byte in Go's error; undefined when Go accepts the text. */
function findProblem(text: string): number | undefined {
  const bytes = Buffer.from(text);
  const isBreak = (at: number): boolean => bytes[at] === 10 || bytes[at] === 13;
  const skip = (at: number): number => {
    while (at < bytes.length && isBreak(at)) at++;
    return at;
  };
  let at = 0;
  for (let count = 0; ; count++) {
    const inQuantum = count % 4;
    at = skip(at);
    if (at >= bytes.length) return inQuantum === 0 ? undefined : at - inQuantum;
    const char = String.fromCharCode(bytes[at]!);
    at++;
    if (ALPHABET.test(char)) continue;
    if (char !== '=' || inQuantum < 2) return at - 1;
    return findPaddingProblem(bytes, at, inQuantum, skip);
  }
}

/** Checks the text after the first `=` of the last quantum. */
function findPaddingProblem(
  bytes: Uint8Array,
  at: number,
  inQuantum: number,
  skip: (at: number) => number,
): number | undefined {
  if (inQuantum === 2) {
    at = skip(at);
    if (at === bytes.length) return bytes.length;
    if (bytes[at] !== 61) return at - 1;
    at++;
  }
  at = skip(at);
  return at < bytes.length ? at : undefined;
}
