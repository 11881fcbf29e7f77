/**
 * Whether this is a CI run: skipped tests would go unnoticed there, so a missing prerequisite is an error. Set by CI
 * services.
 */
export const isCI = !['', '0', 'false'].includes(process.env.CI ?? '');
