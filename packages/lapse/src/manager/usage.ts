// Usage errors: one line that says what failed, where, and what to do next. Exit code 2.

export class UsageError extends Error {}

/** A port from a flag. 0 means any free port. */
export function parsePort(text: string): number {
  const port = Number(text);
  if (!/^[0-9]+$/.test(text) || port > 65_535)
    throw new UsageError(`--port must be a number from 0 to 65535, got "${text}"`);
  return port;
}

/** A DNS label. */
export const isNamespaceName = (text: string): boolean => /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/.test(text);

/**
 * A namespace from a flag. An empty value is an error, because it is usually an unset shell variable and would mean
 * all namespaces.
 */
export function parseNamespace(text: string): string {
  if (isNamespaceName(text)) return text;
  const hint =
    text === ''
      ? 'leave it out, or is a variable of the shell not set?'
      : 'lower-case letters, digits and dashes';
  throw new UsageError(`--namespace "${text}" cannot be a namespace: ${hint}`);
}

/** Converts an error of the file system or parser into a message that names the flag. */
export function explained<T>(what: string, fn: () => T): T {
  try {
    return fn();
  } catch (cause) {
    throw new UsageError(`${what}: ${reasonOf(cause)}`);
  }
}

/** Without the source excerpt of the YAML parser. */
export const firstLine = (message: string): string => message.split('\n')[0]!.replace(/:$/, '');

/** `ENOENT: no such file or directory, open 'a.yaml'` */
const OF_THE_SYSTEM = /^E[A-Z0-9]+: (.*), \w+(?: '.*')?$/s;

/** The error as one line: without names of system calls and without the source excerpt of the YAML parser. */
export function reasonOf(cause: unknown): string {
  const { name, message } = cause as Error;
  if (name === 'YAMLParseError') return firstLine(message);
  return OF_THE_SYSTEM.exec(message)?.[1] ?? message;
}
