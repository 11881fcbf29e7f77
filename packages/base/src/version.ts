/** The version of this package. A test compares it with package.json. It is part of every User-Agent. */
export const VERSION = '0.1.0';
