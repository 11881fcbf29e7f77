// The embedded server proxies requests to aggregated APIs as the real one does: with the same extension server and the
// same requests, the answers and the proxied requests are the same.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { httpsOutbound } from '@lapse/apiserver/admission/webhooks/outbound';
import { frontProxyCertificate } from '@lapse/apiserver/authn/certificates';
import { realClock } from '@lapse/base/clock';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Bed, startBed } from '../kube/bed/bed.ts';
import { type Observation, observeAggregation } from './aggregation/observe.ts';
import { type EmbeddedSocket, startEmbeddedSocket } from './embeddedSocket.ts';
import { asker } from './model/ask.ts';
import { bedTarget } from './replay/targets.ts';

const CONFIG = '/api/v1/namespaces/kube-system/configmaps/extension-apiserver-authentication';
const directory = mkdtempSync(join(tmpdir(), 'lapse-aggregation-'));

let bed: Bed;
let real: ReturnType<typeof bedTarget>;
let embedded: EmbeddedSocket;
let theirs: Observation[];
let ours: Observation[];

beforeAll(async () => {
  bed = await startBed();
  real = bedTarget(bed);
  const frontProxy = await frontProxyCertificate(directory, realClock.now());
  embedded = await startEmbeddedSocket({ outbound: httpsOutbound, frontProxy });
  theirs = await observeAggregation(real);
  ours = await observeAggregation(embedded.target);
}, 300_000);
afterAll(async () => {
  await real?.close();
  await embedded?.close();
  await bed?.stop();
  rmSync(directory, { recursive: true, force: true });
});

test('the embedded and the real server proxy and answer alike', () => {
  expect(ours.map(({ about }) => about)).toEqual(theirs.map(({ about }) => about));
  for (const [i, { about, what }] of theirs.entries()) expect.soft(ours[i]!.what, about).toEqual(what);
});

test('no unexpected error occurred', () => expect(embedded.embedded.unexpected).toEqual([]));

test('the headers for front-proxy authentication are published in the same form', async () => {
  const [a, b] = await Promise.all(
    [real, embedded.target].map(async (target) => {
      const { body } = await asker(target)('GET', CONFIG);
      return (body as { data: Record<string, string> }).data;
    }),
  );
  expect(Object.keys(b!)).toEqual(expect.arrayContaining(Object.keys(a!)));
  const incomparable = /^(client-ca-file|requestheader-(client-ca-file|allowed-names))$/;
  for (const [key, value] of Object.entries(a!))
    if (!incomparable.test(key)) expect(b![key], key).toBe(value);
});
