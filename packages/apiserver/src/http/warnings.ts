// Warning headers: each text once, limited to what the header buffer of a client can hold. Above the limit, each text
// is truncated and the remaining ones are dropped.

// As upstream, in characters.
const ALL = 4096;
const EACH = 256;

const CONTROL = /[\p{Cc}\p{Cs}]/u;

/** One header value per warning; skips texts that are not valid in a header. */
export function warningHeaders(warnings: Iterable<string>): string[] {
  const texts = [...new Set(warnings)].filter((text) => text !== '' && !CONTROL.test(text));
  const whole = texts.slice(0, ALL).map((text) => [...text]);
  const fits = texts.length <= ALL && whole.reduce((sum, text) => sum + text.length, 0) <= ALL;
  return (fits ? texts : cutShort(whole)).map((text) => `299 - ${quote(text)}`);
}

function cutShort(texts: readonly string[][]): string[] {
  const kept: string[] = [];
  let written = 0;
  for (const text of texts) {
    if (written >= ALL) break;
    const part = text.slice(0, EACH);
    kept.push(part.join(''));
    written += part.length;
  }
  return kept;
}

/** A quoted-string of RFC 7230; non-ASCII text is sent as UTF-8 bytes, one character each. */
function quote(text: string): string {
  const bytes = Buffer.from(text, 'utf8').toString('latin1');
  return `"${bytes.replace(/[\\"]/g, '\\$&')}"`;
}
