// The command line as users run it, the slow part: every usage error, and what survives a restart.

import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { renderKubeconfig } from '@lapse/kube/client/kubeconfigWrite';
import { afterAll, describe, expect, test } from 'vitest';
import { startServerProcess } from '../robustness/serverProcess.ts';

const lapse = join(import.meta.dirname, '../../bin/lapse');
const scratch = mkdtempSync(join(tmpdir(), 'lapse-cli-'));
afterAll(() => rmSync(scratch, { recursive: true, force: true }));

const run = (...args: string[]) =>
  new Promise<{ code: number; out: string; err: string }>((resolve) => {
    execFile(lapse, args, { timeout: 15_000 }, (cause, out, err) =>
      resolve({ code: cause ? Number(cause.code ?? 1) : 0, out, err }),
    );
  });

describe('usage errors are answered with a message', () => {
  const badTokens = join(scratch, 'tokens.csv');
  writeFileSync(badTokens, 'only,two\n');
  const nowhere = join(scratch, 'nowhere.yaml');
  writeFileSync(nowhere, renderKubeconfig({ server: 'https://127.0.0.1:1', token: 't', name: 'n' }));

  test.each([
    [['server', '--port', 'http'], 2, /--port must be a number from 0 to 65535, got "http"/],
    [['server', '--port', '70000'], 2, /--port must be a number/],
    [['server', '--store', 'floppy'], 2, /Allowed choices are sqlite, memory/],
    [['server', '--data', '/dev/null/x'], 2, /--data \/dev\/null\/x: .*/],
    [
      ['server', '--data', scratch, '--token-auth-file', badTokens],
      2,
      /token file line 1: expected at least 3 columns/,
    ],
    [
      ['server', '--data', scratch, '--token-auth-file', '/no/such/file'],
      2,
      /--token-auth-file \/no\/such\/file: no such file or directory\n$/,
    ],
    [['server', '--colour'], 2, /^lapse: unknown option '--colour'\n\(see lapse server --help\)/],
    [['dance'], 2, /^lapse: unknown command 'dance'/],
    [['help', 'dance'], 2, /^lapse: unknown command "dance"; see lapse --help/],
    [
      ['server', '--data', scratch, '--host', 'nowhere.invalid'],
      2,
      /cannot listen on --host nowhere\.invalid/,
    ],
    [
      ['plan', '--kubeconfig', nowhere],
      1,
      /ECONNREFUSED.*; check that the API server is running, and --kubeconfig/,
    ],
    [['crds', '--apply', '--kubeconfig', nowhere], 1, /ECONNREFUSED.*; check that the API server is running/],
  ])('lapse %j', async (args, code, message) => {
    const result = await run(...args);
    expect(result.err).toMatch(message);
    expect(result.code).toBe(code);
    expect(result.err).not.toMatch(/^\s+at /m);
  });
});

test('a port in use is reported, and the process exits', async () => {
  const first = await startServerProcess(join(scratch, 'first'));
  const second = await run('server', '--data', join(scratch, 'second'), '--port', new URL(first.url).port);
  expect(second.err).toMatch(/^lapse: port \d+ on 127\.0\.0\.1 is taken; choose another --port/);
  expect(second.code).toBe(2);
  await first.stop();
});

test('--help shows the commands, and a command shows examples', async () => {
  expect((await run('--help')).out).toMatch(/up .*\n.*server/s);
  expect((await run('server', '--help')).out).toMatch(/Example:/);
});

test('a server keeps its data, certificates and token across a restart, private to its owner', async () => {
  const data = join(scratch, 'kept');
  const first = await startServerProcess(data);
  await first.call('POST', '/api/v1/namespaces/default/configmaps', {
    metadata: { name: 'kept' },
    data: { a: 'b' },
  });
  expect(await first.stop()).toBe(0);
  for (const file of ['token', 'ca.key', 'server.key', 'kubeconfig']) {
    expect(statSync(join(data, file)).mode & 0o777, file).toBe(0o600);
  }
  const second = await startServerProcess(data);
  const answer = await second.call('GET', '/api/v1/namespaces/default/configmaps/kept');
  expect(answer.body.data).toEqual({ a: 'b' });
  expect(await second.stop()).toBe(0);
});
