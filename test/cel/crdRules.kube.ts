// Every rule of crdRules.ts on a real kube-apiserver and on the embedded server: the same CRDs and the same objects are
// refused, with the same messages.

import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { createServer } from '@lapse/apiserver/server';
import { Agent, request } from 'undici';
import { expect, test } from 'vitest';
import { startBed } from '../kube/bed/bed.ts';
import { RULE_CASES, type RuleCase } from './crdRules.ts';

type Response = {
  status: number;
  body: { message?: string; status?: { conditions?: { type: string; status: string }[] } };
};
type Send = (method: string, path: string, body?: object) => Promise<Response>;

const group = (i: number) => `r${i}.example.com`;

const definition = (spec: object, i: number) => ({
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: `things.${group(i)}` },
  spec: {
    group: group(i),
    scope: 'Cluster',
    names: { plural: 'things', singular: 'thing', kind: 'Thing' },
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        schema: { openAPIV3Schema: { type: 'object', properties: { spec } } },
      },
    ],
  },
});

const DEFINITIONS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';

/** The responses of a server to a case: one line per request. */
async function interview(send: Send, { spec, tries }: RuleCase, i: number): Promise<string[]> {
  const created = await send('POST', DEFINITIONS, definition(spec, i));
  const lines = [said('define', created)];
  if (created.status !== 201) return lines;
  const path = `/apis/${group(i)}/v1/things`;
  while (await notReady(send, i)) await sleep(50);
  for (const [n, given] of tries.entries()) {
    const steps: readonly object[] = Array.isArray(given) ? given : [given];
    for (const [s, value] of steps.entries()) {
      const thing = { apiVersion: `${group(i)}/v1`, kind: 'Thing', metadata: { name: `t${n}` }, spec: value };
      const response =
        s === 0 ? await send('POST', path, thing) : await replace(send, `${path}/t${n}`, thing);
      lines.push(said(`${s === 0 ? 'create' : 'replace'} ${JSON.stringify(value)}`, response));
    }
  }
  return lines;
}

async function notReady(send: Send, i: number): Promise<boolean> {
  const { body } = await send('GET', `${DEFINITIONS}/things.${group(i)}`);
  const established = body.status?.conditions?.some((c) => c.type === 'Established' && c.status === 'True');
  return !established || (await send('GET', `/apis/${group(i)}/v1/things`)).status !== 200;
}

async function replace(send: Send, path: string, thing: { metadata: object }): Promise<Response> {
  const { body } = await send('GET', path);
  const { resourceVersion } = (body as unknown as { metadata: { resourceVersion: string } }).metadata;
  return send('PUT', path, { ...thing, metadata: { ...thing.metadata, resourceVersion } });
}

const said = (what: string, { status, body }: Response) =>
  `${what}: ${status}${status >= 400 ? ` ${body.message}` : ''}`;

test(`${RULE_CASES.length} rules behave and read the same on both servers`, {
  timeout: 300_000,
}, async () => {
  expect(RULE_CASES.length).toBeGreaterThanOrEqual(60);
  const bed = await startBed();
  const agent = new Agent({ connect: { ca: readFileSync(bed.caFile, 'utf8') } });
  const embedded = await createServer();
  const askReal: Send = async (method, path, body) => {
    const response = await request(bed.url + path, {
      method: method as 'GET',
      dispatcher: agent,
      headers: { authorization: `Bearer ${bed.adminToken}`, 'content-type': 'application/json' },
      ...(body ? { body: JSON.stringify(body) } : {}),
    });
    const raw = await response.body.text();
    return { status: response.statusCode, body: raw.startsWith('{') ? JSON.parse(raw) : { message: raw } };
  };
  const askEmbedded: Send = async (method, path, body) => {
    const headers = { 'content-type': 'application/json' };
    const response = await embedded.handle({
      method,
      path,
      headers,
      ...(body ? { body: Buffer.from(JSON.stringify(body)) } : {}),
    });
    const raw = Buffer.from(response.body as Uint8Array).toString();
    return { status: response.status, body: raw.startsWith('{') ? JSON.parse(raw) : { message: raw } };
  };
  try {
    let refused = 0;
    let accepted = 0;
    const lanes = Array.from({ length: 8 }, async (_, lane) => {
      for (let i = lane; i < RULE_CASES.length; i += 8) {
        const [real, ours] = await Promise.all([
          interview(askReal, RULE_CASES[i]!, i),
          interview(askEmbedded, RULE_CASES[i]!, i),
        ]);
        expect.soft(ours, RULE_CASES[i]!.name).toEqual(real);
        refused += real.filter((l) => /: 4\d\d/.test(l)).length;
        accepted += real.filter((l) => /: 20\d$/.test(l)).length;
      }
    });
    await Promise.all(lanes);
    process.stdout.write(
      `crd rules: ${RULE_CASES.length} rules, ${accepted} accepted, ${refused} refused by both\n`,
    );
    expect(Math.min(refused, accepted)).toBeGreaterThan(50);
  } finally {
    await agent.destroy();
    await embedded.close();
    await bed.stop();
  }
});
