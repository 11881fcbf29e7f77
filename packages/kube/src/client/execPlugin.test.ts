import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { realClock } from '@lapse/base/clock';
import { formatTime, minutes, plus, seconds } from '@lapse/base/instant';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { selfSigned } from './certificate.testkit.ts';
import type { ExecConfig } from './connection.ts';
import { parseExecCredential } from './execCredential.ts';
import { execPlugin } from './execPlugin.ts';
import { manualClock } from './testkit.ts';

const V1 = 'client.authentication.k8s.io/v1';
const user = selfSigned('user');
const other = selfSigned('other');
const credential = (status: unknown, apiVersion = V1) =>
  JSON.stringify({ kind: 'ExecCredential', apiVersion, status });

describe('parsing the output of a plugin', () => {
  it.each<[string, object, object]>([
    ['a token', { token: 't' }, { auth: { headers: { authorization: 'Bearer t' } } }],
    [
      'a certificate',
      { clientCertificateData: user.cert, clientKeyData: user.key },
      { auth: { headers: {}, cert: user.cert, key: user.key } },
    ],
    [
      'an expiry',
      { token: 't', expirationTimestamp: '2025-01-01T00:00:00Z' },
      { expiresAt: 1_735_689_600_000 },
    ],
    ['an empty expiry', { token: 't', expirationTimestamp: null }, {}],
    [
      'an expiry with an offset',
      { token: 't', expirationTimestamp: '2025-01-01T01:00:00.5+01:00' },
      { expiresAt: 1_735_689_600_500 },
    ],
  ])('%s', (_name, status, expected) => {
    expect(parseExecCredential(credential(status), V1)).toMatchObject(expected);
  });

  it.each<[string, string, string]>([
    ['not JSON', 'secret-token', 'not JSON'],
    ['an empty output', '', 'not JSON'],
    ['a list', '["secret-token"]', 'not an ExecCredential'],
    ['another kind', '{"kind":"Pod"}', 'not an ExecCredential'],
    [
      'another version',
      credential({ token: 'secret-token' }, `${V1}beta1`),
      `apiVersion ${V1}beta1, expected ${V1}`,
    ],
    ['no status', credential(undefined), 'no status'],
    ['an empty status', credential({}), 'neither a token nor'],
    ['an empty token', credential({ token: '' }), 'neither a token nor'],
    [
      'a token with two lines',
      credential({ token: 'secret-token\nx' }),
      'status.token contains invalid characters',
    ],
    ['a certificate without a key', credential({ clientCertificateData: user.cert }), 'must be set together'],
    [
      'a broken certificate',
      credential({ clientCertificateData: 'secret-token', clientKeyData: user.key }),
      'clientCertificateData is not',
    ],
    [
      'a broken key',
      credential({ clientCertificateData: user.cert, clientKeyData: 'secret-token' }),
      'clientKeyData is not',
    ],
    [
      'a key of another certificate',
      credential({ clientCertificateData: user.cert, clientKeyData: other.key }),
      'does not belong',
    ],
    ['a time in words', credential({ token: 't', expirationTimestamp: 'tomorrow' }), 'not an RFC 3339 time'],
    [
      'a time that does not exist',
      credential({ token: 't', expirationTimestamp: '2025-13-01T00:00:00Z' }),
      'not an RFC 3339 time',
    ],
    ['a time that is a number', credential({ token: 't', expirationTimestamp: 5 }), 'not an RFC 3339 time'],
  ])('rejects %s without quoting it', (_name, output, problem) => {
    expect(() => parseExecCredential(output, V1)).toThrow(problem);
    expect(() => parseExecCredential(output, V1)).not.toThrow('secret-token');
  });
});

describe('running a plugin', () => {
  let directory: string;
  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'lapse-plugin-'));
  });
  afterAll(() => rm(directory, { recursive: true }));

  let count = 0;
  /** A plugin written in JavaScript. */
  async function plugin(script: string, more: Partial<ExecConfig> = {}): Promise<ExecConfig> {
    const file = join(directory, `plugin${count++}.cjs`);
    await writeFile(file, script);
    return {
      apiVersion: V1,
      command: process.execPath,
      args: [file],
      env: {},
      interactiveMode: 'Never',
      field: 'user "u": exec',
      ...more,
    };
  }
  const credentials = async (script: string, more: Partial<ExecConfig> = {}, interactive = false) =>
    execPlugin(await plugin(script, more), {
      clock: realClock,
      environment: { INHERITED: 'yes' },
      interactive,
    });

  it('passes arguments, environment and ExecCredential to the plugin', async () => {
    const script = `
      const info = JSON.parse(process.env.KUBERNETES_EXEC_INFO);
      const token = [info.kind, info.apiVersion, info.spec.interactive, process.env.INHERITED, process.env.OWN, process.env.PATH, process.argv[2]].join('|');
      console.log(JSON.stringify({ kind: 'ExecCredential', apiVersion: info.apiVersion, status: { token } }));`;
    const exec = await plugin(script);
    const source = execPlugin(
      { ...exec, args: [...exec.args, 'arg'], env: { OWN: 'mine' } },
      { clock: realClock, environment: { INHERITED: 'yes', GONE: undefined } },
    );
    expect((await source.current()).headers.authorization).toBe(
      `Bearer ExecCredential|${V1}|false|yes|mine||arg`,
    );
  });

  it('passes the cluster to the plugin if it requests it', async () => {
    const script = `
      const { cluster } = JSON.parse(process.env.KUBERNETES_EXEC_INFO).spec;
      const token = Buffer.from(JSON.stringify(cluster)).toString('base64');
      console.log(JSON.stringify({ kind: 'ExecCredential', apiVersion: '${V1}', status: { token } }));`;
    const cluster = {
      server: 'https://a',
      insecure: false,
      tlsServerName: 'n',
      ca: { field: 'f', pem: 'PEM' },
      config: { audience: 5 },
    };
    const { headers } = await (await credentials(script, { cluster })).current();
    const execInfo: unknown = JSON.parse(
      Buffer.from(String(headers.authorization).slice('Bearer '.length), 'base64').toString(),
    );
    expect(execInfo).toEqual({
      server: 'https://a',
      'tls-server-name': 'n',
      'certificate-authority-data': Buffer.from('PEM').toString('base64'),
      config: { audience: 5 },
    });
  });

  it.each<[string, string, Partial<ExecConfig>, RegExp]>([
    [
      'a failure with its error output',
      'console.error("please log in"); process.exit(3)',
      {},
      /^user "u": exec: .*: the plugin exited with code 3: please log in$/,
    ],
    ['output that is not JSON', 'console.log("secret")', {}, /the output is not JSON$/],
    [
      'too much output',
      'process.stdout.write("x".repeat(3e6)); setInterval(() => {}, 1000)',
      {},
      /the plugin was stopped: its output exceeds 1 MiB$/,
    ],
    [
      'a plugin that another process terminates',
      'console.error("bye"); process.kill(process.pid, "SIGTERM")',
      {},
      /the plugin was terminated by SIGTERM: bye$/,
    ],
    [
      'a command that is not in PATH, with the install hint',
      '',
      { command: 'lapse-no-such-plugin', installHint: 'install it like this' },
      /lapse-no-such-plugin: no such program\ninstall it like this$/,
    ],
    [
      'a path that does not exist',
      '',
      { command: '/no/such/plugin' },
      /\/no\/such\/plugin: no such program$/,
    ],
    ['a required terminal that is missing', '', { interactiveMode: 'Always' }, /requires a terminal/],
  ])('%s', async (_name, script, more, message) => {
    await expect((await credentials(script, more)).current()).rejects.toMatchObject({
      failure: 'credentials',
      sent: false,
      message: expect.stringMatching(message),
    });
  });

  it('reports a file that is not executable', async () => {
    const file = join(directory, 'notexecutable');
    await writeFile(file, '#!/bin/sh\n');
    await chmod(file, 0o644);
    const source = await credentials('', { command: file, args: [] });
    await expect(source.current()).rejects.toMatchObject({
      failure: 'credentials',
      message: expect.stringContaining('EACCES'),
    });
  });

  it('stops a plugin that does not exit', async () => {
    const clock = manualClock();
    const source = execPlugin(await plugin('setInterval(() => {}, 1000)'), { clock, environment: {} });
    const failed = expect(source.current()).rejects.toThrow(
      'the plugin was stopped: it did not exit within 60 s',
    );
    while (clock.sleepers === 0) await new Promise((resolve) => setImmediate(resolve));
    await clock.advance(minutes(1));
    await failed;
  });

  it('runs the plugin again only when its credentials expire or the server rejects them', async () => {
    const clock = manualClock();
    const counter = join(directory, 'counter');
    await writeFile(counter, '0');
    const script = `
      const fs = require('node:fs');
      const n = Number(fs.readFileSync(${JSON.stringify(counter)}, 'utf8')) + 1;
      fs.writeFileSync(${JSON.stringify(counter)}, String(n));
      const expirationTimestamp = n === 1 ? ${JSON.stringify(formatTime(plus(clock.now(), minutes(10))))} : undefined;
      console.log(JSON.stringify({ kind: 'ExecCredential', apiVersion: '${V1}', status: { token: 't' + n, expirationTimestamp } }));`;
    const source = execPlugin(await plugin(script), { clock, environment: {} });
    const token = async () => (await source.current()).headers.authorization;
    expect([await token(), await token()]).toEqual(['Bearer t1', 'Bearer t1']);
    await clock.advance(minutes(10));
    expect(await token()).toBe('Bearer t2');
    await clock.advance(minutes(1000));
    const used = await source.current();
    expect(used.headers.authorization).toBe('Bearer t2');
    await clock.advance(seconds(5));
    expect(await source.refused(used)).toBe(true);
    expect(await token()).toBe('Bearer t3');
  });
});
