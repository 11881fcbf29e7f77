// For every well-typed object the server responds quickly and without internal errors.

import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Embedded, startEmbedded } from '../../../../test/conformance/embeddedTarget.ts';
import { baseRequest, FUZZ_KINDS, Fuzzer, type FuzzRequest, fuzzRequest } from './fuzz.testkit.ts';

const SPACE = 'fuzz';
const REQUESTS = 50;
/** kube-apiserver also fails when it looks up a runtime class with an invalid name. */
const ODD_NAME = /^(Internal error occurred: )?(invalid resource name|resource name may not be empty)/;

let target: Embedded;

async function ask({ method, path, type, body }: FuzzRequest) {
  const response = await target.request({
    method,
    path: path.replaceAll('{ns}', SPACE),
    headers: { 'content-type': type, authorization: `Bearer ${target.adminToken}` },
    body: Buffer.from(JSON.stringify(body).replaceAll('{ns}', SPACE)),
  });
  const answer = JSON.parse(Buffer.from(response.body as Uint8Array).toString());
  return { status: response.status, answer };
}

beforeAll(async () => {
  target = await startEmbedded();
  const namespace = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: SPACE } };
  await ask({ method: 'POST', path: '/api/v1/namespaces', type: 'application/json', body: namespace });
});
afterAll(() => target?.close());

test.each(FUZZ_KINDS.map((kind) => [kind.kind, kind] as const))('%s', async (name, kind) => {
  expect(await ask(baseRequest(kind))).toMatchObject({ status: 201 });
  const fuzzer = new Fuzzer(name.length);
  for (let n = 0; n < REQUESTS; n++) {
    const request = fuzzRequest(kind, fuzzer);
    const { status, answer } = await ask(request);
    const expected = [200, 201, 400, 403, 409, 422].includes(status) || ODD_NAME.test(answer.message);
    expect({ request, answer, expected }).toMatchObject({ expected: true });
    if (status < 300) expect(answer.kind).toBe(name);
    else expect(answer).toMatchObject({ kind: 'Status', code: status, status: 'Failure' });
  }
  expect(target.unexpected).toEqual([]);
  expect(({} as Record<string, unknown>)['polluted']).toBeUndefined();
});
