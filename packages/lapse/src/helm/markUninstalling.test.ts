import { decodeBase64, fromUtf8, unpackGzip, utf8 } from '@lapse/base/codec';
import { parseTime } from '@lapse/base/instant';
import { isObject, type JsonObject } from '@lapse/kube/api/json';
import { describe, expect, test } from 'vitest';
import { buildUninstalling } from './markUninstalling.ts';
import { payloadOf, type ReleaseFixture, releaseJson, revision } from './release.testkit.ts';
import type { Stored } from './storage.ts';

const NOW = parseTime('2026-03-04T05:06:07Z');
const stored = (payload: string, more: Partial<Stored> = {}): Stored => ({
  driver: 'configmap',
  name: 'sh.helm.release.v1.shop.v1',
  uid: 'u',
  revision: 1,
  status: 'deployed',
  payload,
  ...more,
});

async function rewritten(of: Stored): Promise<string> {
  const patch = await buildUninstalling(of, NOW);
  const data = patch?.data;
  const text = isObject(data) ? String(data.release) : '';
  return of.driver === 'configmap' ? text : fromUtf8(decodeBase64(text)!);
}

const unpacked = (payload: string): string => {
  const result = unpackGzip(decodeBase64(payload)!, 2 ** 24);
  return result.kind === 'bytes' ? fromUtf8(result.bytes) : result.kind;
};

describe('a record with the status uninstalling', () => {
  test('has the info that Helm writes, and all other bytes unchanged', async () => {
    const json: JsonObject = { ...releaseJson({ manifest: 'a: b\n' }), more: { big: 'ü' } };
    const text = unpacked(await rewritten(stored(payloadOf(json))));
    const info = {
      ...(json.info as JsonObject),
      deleted: '2026-03-04T05:06:07Z',
      description: 'Deletion in progress (or silently failed)',
      status: 'uninstalling',
    };
    expect(text).toBe(JSON.stringify(json).replace(JSON.stringify(json.info), JSON.stringify(info)));
  });

  test('has the labels that Helm selects by', async () => {
    const patch = await buildUninstalling(revision({}), NOW);
    expect(patch?.metadata).toEqual({ labels: { status: 'uninstalling', modifiedAt: '1772600767' } });
  });

  test.each<[string, ReleaseFixture]>([
    ['of some bytes', {}],
    ['of a megabyte', { manifest: '# a comment\n'.repeat(100_000) }],
  ])('%s can be unpacked', async (_, given) => {
    const json = releaseJson(given);
    const of = stored(Buffer.from(utf8(payloadOf(json))).toString(), { driver: 'secret' });
    expect(JSON.parse(unpacked(await rewritten(of)))).toMatchObject({ ...given, name: 'shop', version: 1 });
  });

  test('stays plain JSON if it was plain JSON', async () => {
    const payload = await rewritten(stored(payloadOf(releaseJson(), 'plain')));
    expect(JSON.parse(fromUtf8(decodeBase64(payload)!))).toMatchObject({ info: { status: 'uninstalling' } });
  });

  test.each([
    ['not base64', '!'],
    ['not JSON', payloadOf(utf8('x'))],
    ['without info', payloadOf({ name: 'shop' })],
    ['with info that is not an object', payloadOf({ info: [] })],
    ['with info that is not JSON', Buffer.from('{"info": {x}}').toString('base64')],
  ])('is not built from a payload %s', async (_, payload) => {
    expect(await buildUninstalling(stored(payload), NOW)).toBeUndefined();
  });
});
