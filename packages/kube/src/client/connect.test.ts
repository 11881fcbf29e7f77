import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TLSSocket } from 'node:tls';
import { millis, minutes, seconds } from '@lapse/base/instant';
import { seededRandom } from '@lapse/base/random';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { selfSigned } from './certificate.testkit.ts';
import { createClient } from './client.ts';
import { connect } from './connect.ts';
import { loadConnection } from './kubeconfig.ts';
import { type LocalServer, listenLocal, type ManualClock, manualClock } from './testkit.ts';
import { closeAfterEach, collect, get, serve } from './undici.testkit.ts';

closeAfterEach();

const server = selfSigned('server', ['127.0.0.1']);
const [one, two] = [selfSigned('one'), selfSigned('two')];
let directory: string;
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'lapse-connect-'));
  await writeFile(join(directory, 'ca.crt'), server.cert);
});
afterAll(() => rm(directory, { recursive: true }));

/** Responds with the certificate's name and the identity headers of the request. Rejects `state.rejectedToken`. */
function whoami(state: { rejectedToken?: string } = {}): Promise<LocalServer> {
  const options = { ...server, requestCert: true, rejectUnauthorized: false, keepAliveTimeout: 60_000 };
  return listenLocal(
    createServer(options, (request, response) => {
      const cert = (request.socket as TLSSocket).getPeerCertificate().subject?.CN ?? '-';
      const auth = request.headers.authorization ?? '-';
      response.statusCode =
        state.rejectedToken !== undefined && auth === `Bearer ${state.rejectedToken}` ? 401 : 200;
      const as = request.rawHeaders.flatMap((name, i, all) =>
        /^impersonate/.test(name) ? [all[i + 1]] : [],
      );
      if (request.url === '/watch') response.write(`${cert}\n`);
      else response.end([cert, auth, ...as].join(' '));
    }),
    'https',
    'connection',
  );
}

async function connected(local: LocalServer, user: string, clock: ManualClock = manualClock()) {
  const file = join(directory, 'config');
  await writeFile(
    file,
    `current-context: x\ncontexts:\n- name: x\n  context: {cluster: c, user: u}\nclusters:\n- name: c\n  cluster: {server: "${local.url}", certificate-authority: ca.crt}\nusers:\n- name: u\n  user: ${user}\n`,
  );
  const connection = await loadConnection({ kubeconfig: file, environment: {} });
  const { transport, credentials } = await connect(connection, { clock, environment: {} });
  const client = createClient({ transport, credentials, clock, random: seededRandom(1) });
  const who = async () => Buffer.from((await client.raw({ method: 'GET', path: '/' })).body).toString();
  return { clock, transport, who };
}

describe('connects to a server from a kubeconfig', () => {
  it.each([
    ['no credentials', '{}', '- -'],
    ['a token', '{token: abc}', '- Bearer abc'],
    ['a password', '{username: a, password: b}', `- Basic ${Buffer.from('a:b').toString('base64')}`],
    ['an impersonated user', '{token: abc, as: jane, as-groups: ["a, b", c]}', '- Bearer abc jane a, b c'],
  ])('%s', async (_name, user, expected) => {
    const { transport, who } = await connected(await serve(whoami()), user);
    expect(await who()).toBe(expected);
    await transport.close();
  });

  it('a changed token file is used after the next 401', async () => {
    const state: { rejectedToken?: string } = {};
    const file = join(directory, 'token');
    await writeFile(file, 'old');
    const { clock, transport, who } = await connected(await serve(whoami(state)), '{tokenFile: token}');
    expect(await who()).toBe('- Bearer old');
    await writeFile(file, 'new');
    expect(await who()).toBe('- Bearer old');
    state.rejectedToken = 'old';
    await clock.advance(seconds(5));
    expect(await who()).toBe('- Bearer new');
    await transport.close();
  });

  it('a rotated certificate opens new connections; a watch continues on the old one', async () => {
    const put = async ({ cert, key }: { cert: string; key: string }) => {
      await writeFile(join(directory, 'user.crt'), cert);
      await writeFile(join(directory, 'user.key'), key);
    };
    await put(one);
    const user = '{client-certificate: user.crt, client-key: user.key}';
    const { clock, transport, who } = await connected(await serve(whoami()), user);
    expect(await who()).toBe('one -');
    const watch = await transport.stream(get('/watch'));
    const watched = collect(watch);
    await writeFile(join(directory, 'user.crt'), two.cert);
    await clock.advance(minutes(1));
    expect(await who()).toBe('one -');
    await put(two);
    await clock.advance(minutes(1));
    expect(await who()).toBe('two -');
    watch.close();
    expect(await watched).toBe('one\n');
    await transport.close();
  });

  it('unchanged files keep the same connections', async () => {
    const local = await serve(whoami());
    const { clock, transport, who } = await connected(local, '{}');
    await who();
    for (let i = 0; i < 5; i++) {
      await clock.advance(minutes(1));
      await who();
    }
    expect(local.connections()).toBeLessThanOrEqual(2);
    await transport.close();
  });

  it('an exec plugin can provide a certificate', async () => {
    const status = { clientCertificateData: one.cert, clientKeyData: one.key };
    const answer = { kind: 'ExecCredential', apiVersion: 'client.authentication.k8s.io/v1', status };
    await writeFile(join(directory, 'plugin.cjs'), `console.log(${JSON.stringify(JSON.stringify(answer))})`);
    const exec = `{apiVersion: client.authentication.k8s.io/v1, interactiveMode: Never, command: "${process.execPath}", args: ["${join(directory, 'plugin.cjs')}"]}`;
    const { transport, who } = await connected(await serve(whoami()), `{exec: ${exec}}`);
    expect(await who()).toBe('one -');
    await transport.close();
  });

  it('close also closes connections left from a rotation', async () => {
    await writeFile(join(directory, 'user.crt'), one.cert);
    await writeFile(join(directory, 'user.key'), one.key);
    const local = await serve(whoami());
    const { clock, transport, who } = await connected(
      local,
      '{client-certificate: user.crt, client-key: user.key}',
    );
    const watched = collect(await transport.stream(get('/watch'))).catch((error: Error) => error.name);
    await writeFile(join(directory, 'user.crt'), two.cert);
    await writeFile(join(directory, 'user.key'), two.key);
    await clock.advance(millis(60_000));
    await who();
    await transport.close();
    expect(await watched).toBe('TransportError');
  });
});

describe('errors name file, entry and field', () => {
  it.each<[string, string, Record<string, string>, string]>([
    [
      'a missing certificate file',
      '{client-certificate: none.crt, client-key: none.key}',
      {},
      'user "u": client-certificate: cannot read',
    ],
    [
      'a certificate file without a certificate',
      '{client-certificate: bad.crt, client-key: bad.key}',
      { 'bad.crt': 'hello', 'bad.key': 'x' },
      'bad.crt: contains no PEM certificate',
    ],
    [
      'a corrupt certificate',
      '{client-certificate: bad.crt, client-key: bad.key}',
      { 'bad.crt': '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----', 'bad.key': 'x' },
      'bad.crt: contains an invalid certificate',
    ],
    [
      'a key file without a key',
      '{client-certificate: bad.crt, client-key: bad.key}',
      { 'bad.crt': one.cert, 'bad.key': 'x' },
      'bad.key: is not a PEM private key',
    ],
    [
      'a key of another certificate',
      '{client-certificate: bad.crt, client-key: bad.key}',
      { 'bad.crt': one.cert, 'bad.key': two.key },
      'bad.key: does not belong to the client certificate',
    ],
  ])('%s', async (_name, user, files, message) => {
    for (const [name, text] of Object.entries(files)) await writeFile(join(directory, name), text);
    const local = await serve(whoami());
    await expect(connected(local, user)).rejects.toThrow(message);
    await expect(connected(local, user)).rejects.toThrow(join(directory, 'config'));
  });
});
