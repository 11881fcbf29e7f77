// Mistakes of the person at the keyboard: one line that says what, where and what to do next; exit code 2.

export class UsageError extends Error {}

/** A port from a flag: 0 means any free one. */
export function parsePort(text: string): number {
  const port = Number(text);
  if (!/^[0-9]+$/.test(text) || port > 65_535)
    throw new UsageError(`--port must be a number from 0 to 65535, got "${text}"`);
  return port;
}

/** A label of the DNS. */
export const isNamespaceName = (text: string): boolean => /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/.test(text);

/** A namespace from a flag. Empty is most often a variable of the shell that is not set: it would mean all of them. */
export function parseNamespace(text: string): string {
  if (isNamespaceName(text)) return text;
  const hint =
    text === ''
      ? 'leave it out, or is a variable of the shell not set?'
      : 'lower-case letters, digits and dashes';
  throw new UsageError(`--namespace "${text}" cannot be a namespace: ${hint}`);
}

/** Wraps what a file system or parser says into a message that names the flag. */
export function explained<T>(what: string, fn: () => T): T {
  try {
    return fn();
  } catch (cause) {
    throw new UsageError(`${what}: ${reasonOf(cause)}`);
  }
}

/** Without the picture that a YAML parser draws. */
export const firstLine = (message: string): string => message.split('\n')[0]!.replace(/:$/, '');

/** `ENOENT: no such file or directory, open 'a.yaml'` */
const OF_THE_SYSTEM = /^E[A-Z0-9]+: (.*), \w+(?: '.*')?$/s;

/** What went wrong, in a line for people: without names of system calls, and without the picture that a YAML parser draws. */
export function reasonOf(cause: unknown): string {
  const { name, message } = cause as Error;
  if (name === 'YAMLParseError') return firstLine(message);
  return OF_THE_SYSTEM.exec(message)?.[1] ?? message;
}
