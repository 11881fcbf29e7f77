// Decodes a header value as UTF-8. Node decodes each byte as one character; Go clients and the API server use UTF-8.

const BEYOND_ASCII = /[^\0-\x7f]/;

export const headerText = (value: string): string =>
  BEYOND_ASCII.test(value) ? Buffer.from(value, 'latin1').toString('utf8') : value;
