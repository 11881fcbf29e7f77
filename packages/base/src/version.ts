/** The version of this package; a test holds it to package.json. It is part of every User-Agent. */
export const VERSION = '0.1.0';
