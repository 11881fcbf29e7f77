import { connect, type TLSSocket } from 'node:tls';
import { issueCertificate, makeAuthority, type Pem } from '@lapse/base/certificates';
import { realClock } from '@lapse/base/clock';
import { hours } from '@lapse/base/instant';
import { selfSigned } from '@lapse/kube/client/certificate.testkit';
import { afterEach, describe, expect, test } from 'vitest';
import { type Host, listen, text } from './listen.ts';
import { type ClientSide, isVerified } from './peer.ts';
import { requireSafeResumption, trustsResumedSessions, UnsafeNodeError } from './resumption.ts';

const own = selfSigned('own', ['localhost']);
let host: Host | undefined;
afterEach(() => host?.close());

describe('isVerified', () => {
  const shown = {} as ReturnType<TLSSocket['getPeerX509Certificate']>;
  test.each<[string, boolean, boolean, typeof shown, boolean]>([
    ['is true for a certificate of the CA', true, false, shown, true],
    ['is false for a certificate of another CA', false, false, shown, false],
    ['is false without a certificate', false, false, undefined, false],
    [
      'is false for a resumed session without a certificate that Node calls authorized',
      true,
      true,
      undefined,
      false,
    ],
    [
      'is false for a resumed session of a client that presented a certificate before',
      true,
      true,
      shown,
      false,
    ],
  ])('%s', (_rule, authorized, reused, certificate, verified) => {
    const socket: ClientSide = {
      authorized,
      isSessionReused: () => reused,
      getPeerX509Certificate: () => certificate,
    };
    expect(isVerified(socket)).toBe(verified);
  });
});

/** Sends one GET. Returns the body, the offered session, and whether the client resumed `session`. */
function visit(port: number, more: { session?: Buffer; pair?: Pem }) {
  return new Promise<{ body: string; session: Buffer | undefined; reused: boolean }>((resolve, reject) => {
    let [body, offered, reused] = ['', undefined as Buffer | undefined, false];
    const socket = connect(
      {
        host: '127.0.0.1',
        port,
        servername: 'localhost',
        ca: own.cert,
        minVersion: 'TLSv1.3',
        ...more.pair,
        ...(more.session === undefined ? {} : { session: more.session }),
      },
      () => {
        reused = socket.isSessionReused();
        socket.write('GET / HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n');
      },
    );
    socket.on('session', (next: Buffer) => {
      offered = next;
    });
    socket.on('data', (chunk) => (body += chunk.toString()));
    socket.on('error', reject);
    socket.on('close', () => resolve({ body, session: offered, reused }));
  });
}

test('with client certificates no TLS 1.3 session is resumed, and a session does not authenticate', async () => {
  const authority = await makeAuthority('front-proxy-ca', realClock.now(), hours(1));
  const pair = await issueCertificate({
    authority,
    hosts: [],
    name: 'front-proxy',
    shownBy: 'client',
    now: realClock.now(),
    lifetime: hours(1),
  });
  host = await listen({
    port: 0,
    address: '127.0.0.1',
    certificate: { current: () => own, onChange: () => () => {} },
    clientAuthority: { current: () => authority.cert, onChange: () => () => {} },
    handle: async (_request, peer) => text(200, `verified=${peer.verified} name=${peer.commonName}`),
  });
  const { port } = host;
  const proxy = await visit(port, { pair });
  expect(proxy.body).toContain('verified=true name=front-proxy');
  const unauthenticated = await visit(port, {});
  expect(unauthenticated.body).toContain('verified=false');
  for (const session of [unauthenticated.session, proxy.session]) {
    const resumed = await visit(port, session === undefined ? {} : { session });
    expect(resumed.reused).toBe(false);
    expect(resumed.body).toContain('verified=false');
  }
});

test('the current Node version does not trust resumed sessions', async () => {
  expect(await trustsResumedSessions(own)).toBe(false);
  await expect(requireSafeResumption(own)).resolves.toBeUndefined();
});

test('a Node version that trusts resumed sessions is rejected with its version', async () => {
  const refused = requireSafeResumption(own, async () => true);
  await expect(refused).rejects.toThrow(UnsafeNodeError);
  await expect(refused).rejects.toThrow(process.version);
});
