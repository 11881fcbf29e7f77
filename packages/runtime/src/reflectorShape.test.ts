// A projection with a shape is requested as protobuf. After a malformed response the next request asks for JSON.

import { seconds } from '@lapse/base/instant';
import type { HttpHandler } from '@lapse/kube/api/http';
import { IDENTITY, int, one, type Shape } from '@lapse/kube/api/shape';
import { inProcessTransport } from '@lapse/kube/client/inProcess';
import { envelope, frame, type Message } from '@lapse/kube/client/protobuf/encode.testkit';
import { expect, test } from 'vitest';
import { reflectorKit, settle, type Thing } from './reflector.testkit.ts';

const shape: Shape = { metadata: one(1, IDENTITY), spec: one(2, { size: int(1) }) };
const projection = { name: 'shaped', shape, project: (thing: Thing) => thing };
const metadata: Message = [[1, 'a'], [3, 'n'], [5, 'u'], [6, '7']]; // biome-ignore format: one row
const end: Message = [[1, [[6, '9'], [12, [[1, 'k8s.io/initial-events-end'], [2, 'true']]]]]]; // biome-ignore format: one row

/** Responds to watches with these bytes and records the Accept headers. */
function answering(protobuf: Buffer) {
  const accepts: string[] = [];
  const handle: HttpHandler = async ({ headers }) => {
    const accept = String(headers['accept']);
    accepts.push(accept);
    const isProtobuf = accept.startsWith('application/vnd.kubernetes.protobuf');
    const type = isProtobuf ? 'application/vnd.kubernetes.protobuf;stream=watch' : 'application/json';
    const object = { apiVersion: 'v1', kind: 'Thing', metadata: { name: 'a', namespace: 'n', uid: 'u', resourceVersion: '7' }, spec: { size: 2 } }; // biome-ignore format: one row
    const bookmark = { apiVersion: 'v1', kind: 'Thing', metadata: { resourceVersion: '9', annotations: { 'k8s.io/initial-events-end': 'true' } } }; // biome-ignore format: one row
    const json = [{ type: 'ADDED', object }, { type: 'BOOKMARK', object: bookmark }]; // biome-ignore format: one row
    const body = isProtobuf ? protobuf : Buffer.from(json.map((e) => `${JSON.stringify(e)}\n`).join(''));
    return {
      status: 200,
      headers: { 'content-type': type },
      body: (async function* () {
        yield body;
        await new Promise(() => {});
      })(),
    };
  };
  const kit = reflectorKit({ source: { projection }, client: { transport: inProcessTransport(handle) } });
  return { ...kit, accepts };
}

const PROTOBUF = 'application/vnd.kubernetes.protobuf,application/json';

test('prefers protobuf for a projection with a shape', async () => {
  const added = envelope('v1', 'Thing', [[1, metadata], [2, [[1, 2]]]]); // biome-ignore format: one row
  const { accepts, acquire } = answering(
    Buffer.concat([frame('ADDED', added), frame('BOOKMARK', envelope('v1', 'Thing', end))]),
  );
  const handle = acquire();
  await settle();
  expect(handle.reader.synced).toBe(true);
  expect(handle.reader.get({ namespace: 'n', name: 'a' })).toMatchObject({
    kind: 'Thing',
    spec: { size: 2 },
  });
  expect(accepts).toEqual([PROTOBUF]);
});

test('requests JSON after a response that is not a valid stream of events', async () => {
  const { accepts, clock, acquire } = answering(frame('ADDED', Buffer.from('nonsense')));
  const handle = acquire();
  await settle();
  expect(handle.status.problem).toMatchObject({ kind: 'malformed' });
  await clock.advance(seconds(5));
  await settle();
  expect(handle.reader.get({ namespace: 'n', name: 'a' })).toMatchObject({ spec: { size: 2 } });
  expect(accepts).toEqual([PROTOBUF, 'application/json']);
});
