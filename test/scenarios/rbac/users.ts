// Users of the server in a case, by token: the administrator, the service account of the process, and a person.

import { LOCAL_ADMIN, tokenAuthenticator } from '@lapse/apiserver/authn/auth';
import { NAMESPACE } from './installation.ts';

export const ADMIN = 'of-the-administrator';
export const OWN = 'of-the-account';
export const PERSON = 'of-a-person';

const account = `system:serviceaccount:${NAMESPACE}:lapse`;
const groups = ['system:serviceaccounts', `system:serviceaccounts:${NAMESPACE}`, 'system:authenticated'];

export const users = tokenAuthenticator(
  new Map([
    [ADMIN, LOCAL_ADMIN],
    [OWN, { username: account, groups }],
    [PERSON, { username: 'person', groups: ['system:authenticated'] }],
  ]),
);
