// Parses bind addresses: `host:port`, `:port`, `[::1]:port`, or `port`.

import { UsageError } from './usage.ts';

export interface BindAddress {
  /** Undefined: all addresses. */
  readonly address?: string;
  readonly port: number;
}

/** Undefined for `0`: do not listen. `any:0` picks a free port. */
export function parseBindAddress(flag: string, text: string): BindAddress | undefined {
  if (text === '' || text === '0') return undefined;
  const match = /^(?:(?<host>\[[0-9a-fA-F:.]+\]|[^:[\]]*):)?(?<port>\d{1,5})$/.exec(text);
  const port = Number(match?.groups?.port);
  if (match === null || port > 65_535)
    throw new UsageError(`--${flag} must be host:port or a port, got "${text}"`);
  const host = match.groups?.host?.replace(/^\[|\]$/g, '') ?? '';
  return host === '' ? { port } : { address: host, port };
}
