// Random bytes at the sockets of the process. SEED repeats a run.

import { once } from 'node:events';
import { Agent, request } from 'node:https';
import { connect } from 'node:tls';
import { issueCertificate, makeAuthority } from '@lapse/base/certificates';
import { realClock } from '@lapse/base/clock';
import { hours } from '@lapse/base/instant';
import { silentLog } from '@lapse/base/log';
import { type Random, seededRandom } from '@lapse/base/random';
import { selfSigned } from '@lapse/kube/client/certificate.testkit';
import { aggregatedHandler, requireFrontProxy } from '@lapse/runtime/aggregated/aggregated';
import { parseFrontProxy } from '@lapse/runtime/aggregated/requestHeader';
import { listen } from '@lapse/runtime/host/listen';
import { expect, test } from 'vitest';
import { forgedReview } from './forgedReview.ts';
import { forkReviewHost, send } from './reviewHost.ts';

const SEED = Number(process.env.SEED ?? 20_261_117);
const MOST_GROWTH = 64 << 20;

const below = (random: Random, n: number): number => Math.floor(random.next() * n);
const pick = <T>(random: Random, of: readonly T[]): T => of[below(random, of.length)]!;

const PIECES = [
  'null',
  '{}',
  '[]',
  '""',
  '1e999',
  '-0',
  '"\\ud800"',
  '{"__proto__":{"allowed":true}}',
  '"constructor"',
  '[['.repeat(500),
  '\u0000',
  `"${'a'.repeat(20_000)}"`,
];

/** A text with one to four random changes: bytes flipped, parts cut out, doubled or replaced. */
function mutate(random: Random, text: string): Buffer {
  let bytes = Buffer.from(text);
  for (let n = 1 + below(random, 4); n > 0; n--) {
    const at = below(random, bytes.length);
    const to = Math.min(bytes.length, at + 1 + below(random, 40));
    const piece = Buffer.from(pick(random, PIECES));
    const middle = pick(random, [random.bytes(1), bytes.subarray(at, to), piece, Buffer.alloc(0)]);
    bytes = Buffer.concat([bytes.subarray(0, at), middle, bytes.subarray(pick(random, [at, to]))]);
  }
  return bytes;
}

test(`2,000 random webhook bodies are answered within bounded memory (SEED=${SEED})`, async () => {
  const random = seededRandom(SEED);
  const host = await forkReviewHost('families');
  try {
    const statuses = new Map<number, number>();
    const round = async (count: number) => {
      for (let i = 0; i < count; i += 20)
        await Promise.all(
          Array.from({ length: 20 }, async () => {
            const body = mutate(random, forgedReview(pick(random, ['ttlpolicies', 'cleaners'])));
            const status = await send(host.port, pick(random, host.paths), body);
            statuses.set(status, (statuses.get(status) ?? 0) + 1);
          }),
        );
    };
    await round(400);
    const before = await host.report();
    await round(1600);
    const after = await host.report();
    expect(after.peak - before.peak).toBeLessThan(MOST_GROWTH);
    // Only reviews, bad requests, and functions that need a cluster.
    expect([...statuses.keys()].filter((status) => ![200, 400, 500].includes(status))).toEqual([]);
    expect(statuses.get(400)).toBeGreaterThan(400);
    expect((statuses.get(200) ?? 0) + (statuses.get(500) ?? 0)).toBeGreaterThan(100);
  } finally {
    host.close();
  }
});

const proxy = parseFrontProxy({
  'requestheader-client-ca-file': 'PEM',
  'requestheader-allowed-names': '["front-proxy"]',
  'requestheader-username-headers': '["X-Remote-User"]',
  'requestheader-group-headers': '["X-Remote-Group"]',
  'requestheader-extra-headers-prefix': '["X-Remote-Extra-"]',
});

/** The read API's socket with one resource that returns its caller; and the front proxy's certificate. */
async function openReadApi() {
  const now = realClock.now();
  const authority = await makeAuthority('front-proxy-ca', now, hours(1));
  const client = {
    authority,
    hosts: [],
    name: 'front-proxy',
    shownBy: 'client',
    now,
    lifetime: hours(1),
  } as const;
  const own = selfSigned('own', ['localhost']);
  const handle = aggregatedHandler({
    api: {
      group: 'g',
      version: 'v1',
      resources: [
        {
          resource: 'users',
          kind: 'User',
          namespaced: false,
          verbs: ['list'],
          answer: ({ user }) => ({ object: { name: user.name, groups: [...user.groups] } }),
        },
      ],
    },
    frontProxy: () => proxy,
    authorize: async () => ({ allowed: true, reason: '' }),
    log: silentLog,
  });
  const host = await listen({
    handle,
    refuse: requireFrontProxy(() => proxy),
    certificate: { current: () => own, onChange: () => () => {} },
    clientAuthority: { current: () => authority.cert, onChange: () => () => {} },
    port: 0,
    address: '127.0.0.1',
  });
  return { host, pair: await issueCertificate(client) };
}

const ALPHABET = ['a', ',', ', ', ';', '"', ' b', '%2f', 'x-remote-user', 'é', '=', ':', 'system:masters'];
const headerValue = (random: Random): string =>
  Array.from({ length: 1 + below(random, 6) }, () => pick(random, ALPHABET))
    .join('')
    .trim();
/** As UTF-8 is sent over the wire. */
const onWire = (value: string): string => Buffer.from(value).toString('latin1');

test(`random aggregated API headers name exactly the user that the front proxy sent (SEED=${SEED})`, async () => {
  const random = seededRandom(SEED);
  const { host, pair } = await openReadApi();
  const agent = new Agent({ keepAlive: true, rejectUnauthorized: false, ...pair });
  const ask = (headers: Record<string, string | string[]>): Promise<string> =>
    new Promise((resolve, reject) => {
      const call = request({ host: '127.0.0.1', port: host.port, path: '/apis/g/v1/users', agent, headers });
      call.on('response', (answer) => {
        let text = '';
        answer.on('data', (chunk) => (text += chunk));
        answer.on('end', () => resolve(text));
      });
      call.on('error', reject);
      call.end();
    });
  try {
    for (let i = 0; i < 1000; i++) {
      const name = headerValue(random) || 'a';
      const groups = Array.from({ length: below(random, 4) }, () => headerValue(random));
      const answer = await ask({
        'x-remote-user': onWire(name),
        ...(groups.length === 0 ? {} : { 'x-remote-group': groups.map(onWire) }),
        [`x-remote-extra-${below(random, 9)}%`]: headerValue(random).replaceAll('é', ''),
        [pick(random, ['x-other', '__proto__', 'constructor', 'x-remote-users'])]: 'system:masters',
      });
      expect(JSON.parse(answer)).toEqual({ name, groups });
    }
  } finally {
    agent.destroy();
    await host.close();
  }
});

test(`random bytes instead of a request name no user and keep the read API within bounded memory (SEED=${SEED})`, async () => {
  const random = seededRandom(SEED);
  const { host, pair } = await openReadApi();
  const REQUEST =
    'GET /apis/g/v1/users HTTP/1.1\r\nhost: x\r\nx-remote-user: alice\r\nx-remote-group: dev\r\ncontent-length: 3\r\nconnection: close\r\n\r\nabc';
  const ask = async (bytes: Buffer): Promise<string> => {
    const socket = connect({ host: '127.0.0.1', port: host.port, rejectUnauthorized: false, ...pair });
    let text = '';
    socket.on('data', (chunk) => (text += chunk));
    socket.on('error', () => {});
    socket.end(bytes);
    await once(socket, 'close');
    return text;
  };
  try {
    let before = 0;
    const codes = new Set<string>();
    for (let i = 0; i < 800; i++) {
      if (i === 200) before = process.memoryUsage.rss();
      const text = await ask(mutate(random, REQUEST));
      codes.add(/^HTTP\/1\.1 (\d+)/.exec(text)?.[1] ?? 'closed');
    }
    expect(
      [...codes].filter((code) => !/^(200|400|401|404|405|408|413|417|431|501|closed)$/.test(code)),
    ).toEqual([]);
    expect(codes).toContain('400');
    expect(process.memoryUsage.rss() - before).toBeLessThan(MOST_GROWTH);
    expect(await ask(Buffer.from(REQUEST))).toContain('"name":"alice"');
  } finally {
    await host.close();
  }
});
