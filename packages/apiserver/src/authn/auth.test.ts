import { describe, expect, test } from 'vitest';
import { authenticate, parseTokenFile, tokenAuthenticator } from './auth.ts';

describe('token files', () => {
  test('reads token, user, uid and quoted groups; skips blank lines', () => {
    const users = parseTokenFile('t1,ann,u1,"system:masters,dev"\n\nt2,bob,u2\r\n"t,3","b ""o"" b",u3,one\n');
    expect([...users]).toEqual([
      ['t1', { username: 'ann', uid: 'u1', groups: ['system:masters', 'dev', 'system:authenticated'] }],
      ['t2', { username: 'bob', uid: 'u2', groups: ['system:authenticated'] }],
      ['t,3', { username: 'b "o" b', uid: 'u3', groups: ['one', 'system:authenticated'] }],
    ]);
  });

  test.each([
    ['t1,ann', 'token file line 1: expected at least 3 columns (token, user, uid), found 2'],
    [
      'ok,a,b\n"t1,ann,u',
      'token file line 2: expected at least 3 columns (token, user, uid), found an unclosed quote',
    ],
    [',ann,u', 'token file line 1: token and user must not be empty'],
  ])('rejects %j with the line number', (text, message) => {
    expect(() => parseTokenFile(text)).toThrow(message);
  });
});

describe('authenticate', () => {
  const users = tokenAuthenticator(new Map([['secret', { username: 'ann', groups: [] }]]));
  const request = (authorization?: string) => ({
    method: 'GET',
    path: '/',
    headers: authorization ? { authorization } : {},
  });

  test.each([
    ['Bearer secret', 'ann'],
    [' bearer secret ', 'ann'],
    ['Bearer secret extra', 'ann'],
    [undefined, 'system:anonymous'],
    ['Bearer', 'system:anonymous'],
    ['Bearer  secret', 'system:anonymous'],
    ['Basic c2VjcmV0', 'system:anonymous'],
    ['secret', 'system:anonymous'],
  ])('%s is %s', (header, name) => {
    expect(authenticate(request(header), users).username).toBe(name);
  });

  test.each(['Bearer wrong', 'Bearer __proto__'])('%s is refused', (header) => {
    expect(() => authenticate(request(header), users)).toThrow('Unauthorized');
  });

  test('warns about a token after an extra space', () => {
    const warnings: string[] = [];
    authenticate(request('Bearer  secret'), users, (text) => warnings.push(text));
    expect(warnings).toEqual([
      'the provided Authorization header contains extra space before the bearer token, and is ignored',
    ]);
  });
});
