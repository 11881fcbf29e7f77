// The sessions. Each runs in a separate namespace, `{{ns}}`, on the real and on the embedded server, and every command
// must print the same on both. Deliberate differences are marked, with a reason.

import { CREATE_SESSIONS } from './sessionsCreate.ts';
import { DISCOVER_SESSIONS } from './sessionsDiscover.ts';
import { READ_SESSIONS } from './sessionsRead.ts';
import { WRITE_SESSIONS } from './sessionsWrite.ts';
import type { Session } from './types.ts';

export const SESSIONS: readonly Session[] = [
  ...READ_SESSIONS,
  ...CREATE_SESSIONS,
  ...WRITE_SESSIONS,
  ...DISCOVER_SESSIONS,
];
