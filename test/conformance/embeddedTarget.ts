// The embedded server as a target: in memory, with the two users of the recorded cases.

import { tokenAuthenticator } from '@lapse/apiserver/authn/auth';
import { type ApiServer, createServer, type ServerOptions } from '@lapse/apiserver/server';
import { inProcessTarget } from './replay/targets.ts';
import type { Target } from './replay/types.ts';

const ADMIN = 'token-of-admin';
const NOBODY = 'token-of-nobody';

export const authenticator = tokenAuthenticator(
  new Map([
    [ADMIN, { username: 'admin', uid: 'admin', groups: ['system:masters', 'system:authenticated'] }],
    [NOBODY, { username: 'nobody', uid: 'nobody', groups: ['system:authenticated'] }],
  ]),
);

export const access = { adminToken: ADMIN, nobodyToken: NOBODY };

export interface Embedded extends Target {
  readonly server: ApiServer;
  /** Internal errors, answered with 500. */
  readonly unexpected: string[];
  close(): Promise<void>;
}

export type EmbeddedOptions = Pick<ServerOptions, 'outbound' | 'frontProxy'>;

export async function startEmbedded(more: EmbeddedOptions = {}): Promise<Embedded> {
  const unexpected: string[] = [];
  const server = await createServer({
    authenticator,
    authorization: 'RBAC',
    ...more,
    onUnexpected: (cause, request) =>
      unexpected.push(`${request.method} ${request.path}: ${cause instanceof Error ? cause.stack : cause}`),
  });
  const compact = async () => server.compact();
  const target = inProcessTarget(server.handle, { name: 'embedded', ...access, compact });
  return { ...target, server, unexpected, close: () => server.close() };
}
