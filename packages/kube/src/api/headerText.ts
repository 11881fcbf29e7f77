// The text of a header that Node has read. It takes a byte for a character; Go, and so every client of Kubernetes and the
// API server itself, means UTF-8.

const BEYOND_ASCII = /[^\0-\x7f]/;

export const headerText = (value: string): string =>
  BEYOND_ASCII.test(value) ? Buffer.from(value, 'latin1').toString('utf8') : value;
