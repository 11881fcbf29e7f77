/** Whether this is a run whose skipped tests nobody reads: then what is missing is a mistake. Set by CI services. */
export const isCI = !['', '0', 'false'].includes(process.env.CI ?? '');
