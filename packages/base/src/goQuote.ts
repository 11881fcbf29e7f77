// Quoting of text in error messages of Go's time package.

/** The time package has its own quoting: bytes outside printable ASCII become \xNN. */
export function quote(text: string): string {
  let out = '"';
  for (const char of text) {
    if (char === '"' || char === '\\') out += `\\${char}`;
    else if (char >= ' ' && char < '\x80') out += char;
    else for (const byte of Buffer.from(char)) out += `\\x${byte.toString(16).padStart(2, '0')}`;
  }
  return `${out}"`;
}
