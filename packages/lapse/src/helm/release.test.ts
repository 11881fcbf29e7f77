import { encodeBase64, gzip, utf8 } from '@lapse/base/codec';
import { instant } from '@lapse/base/instant';
import { describe, expect, test } from 'vitest';
import { payloadOf, releaseJson, storedRelease } from './release.testkit.ts';
import { decodeRelease } from './release.ts';
import { isReleaseName, openStored, readStored, storageSelector } from './storage.ts';

const why = (payload: string) => {
  const decoded = decodeRelease(payload);
  return decoded.kind === 'corrupt' ? decoded.why : 'a release';
};

describe('payloads', () => {
  test('gzip and plain JSON of old Helm versions decode to the same release', async () => {
    const json = releaseJson({
      manifest: '---\nkind: X',
      hooks: [{ name: 'h', events: ['pre-delete'], weight: 3 }],
    });
    const packed = decodeRelease(payloadOf(json));
    expect(packed).toEqual(decodeRelease(payloadOf(json, 'plain')));
    expect(packed).toMatchObject({
      kind: 'release',
      release: { name: 'shop', revision: 1, status: 'deployed', lastDeployed: instant(1_767_225_600_000) },
    });
  });

  test('an empty time of Helm 3 and a missing time of Helm 4 are undefined', async () => {
    for (const lastDeployed of ['', 'yesterday']) {
      const decoded = decodeRelease(payloadOf(releaseJson({ lastDeployed })));
      expect(decoded.kind === 'release' && decoded.release.lastDeployed).toBeUndefined();
    }
  });

  const bomb = encodeBase64(gzip(new Uint8Array(17 * 2 ** 20)));
  const whole = gzip(utf8(JSON.stringify(releaseJson())));
  test.each<[string, string, string]>([
    ['an empty payload', '', 'the payload is not a JSON object'],
    ['not base64', '%%%%', 'the payload is not base64'],
    ['too large when packed', 'A'.repeat(3 * 2 ** 20), 'the payload is larger than any release'],
    ['a gzip bomb', bomb, 'the payload unpacks to more than 16 MiB'],
    ['truncated', encodeBase64(whole.subarray(0, whole.length - 9)), 'the payload is not complete gzip'],
    ['gzip of invalid JSON', encodeBase64(gzip(utf8('{"name":'))), 'the payload is not a JSON object'],
    ['a list', payloadOf([]), 'the payload is not a JSON object'],
    ['no name', payloadOf({ version: 1, info: {} }), 'the release has no name'],
    ['a name that is a number', payloadOf({ name: 7, version: 1, info: {} }), 'the release has no name'],
    ['no revision', payloadOf({ name: 'a', info: {} }), 'the release has no revision'],
    [
      'a revision that is not an integer',
      payloadOf({ name: 'a', version: 1.5, info: {} }),
      'the release has no revision',
    ],
    ['no info', payloadOf({ name: 'a', version: 1 }), 'the release has no info'],
    [
      'hooks that are not a list',
      payloadOf({ name: 'a', version: 1, info: {}, hooks: {} }),
      'the hooks are not a short list',
    ],
    [
      'too many hooks',
      payloadOf({ name: 'a', version: 1, info: {}, hooks: Array(501).fill({}) }),
      'the hooks are not a short list',
    ],
    ['deep nesting', encodeBase64(gzip(utf8('['.repeat(200_000)))), 'the payload is not a JSON object'],
  ])('%s is refused', async (_, payload, expected) => {
    expect(why(payload)).toBe(expected);
  });

  test('prototype names in a payload are treated as data', async () => {
    const text = `{"name":"a","version":1,"__proto__":{"manifest":"polluted"},"info":{"__proto__":{"status":"deployed"}},"hooks":[{"__proto__":{"name":"h"},"constructor":1}]}`;
    const decoded = decodeRelease(encodeBase64(utf8(text)));
    expect(decoded).toMatchObject({
      kind: 'release',
      release: { manifest: '', status: '', hooks: [{ name: '' }] },
    });
    expect(({} as Record<string, unknown>).manifest).toBeUndefined();
  });
});

describe('the storage of releases', () => {
  const stored = (
    change: (object: ReturnType<typeof storedRelease>) => void,
    driver: 'secret' | 'configmap' = 'secret',
  ) => {
    const object = storedRelease({}, driver);
    object.metadata.uid = 'u1';
    change(object);
    return readStored(object, driver, 'shop');
  };

  test('reads Secrets and ConfigMaps of Helm as revisions', () => {
    for (const driver of ['secret', 'configmap'] as const)
      expect(stored(() => {}, driver)).toMatchObject({
        driver,
        revision: 1,
        uid: 'u1',
        name: 'sh.helm.release.v1.shop.v1',
      });
  });

  test.each<[string, (object: ReturnType<typeof storedRelease>) => void]>([
    ['another owner', (o) => Object.assign(o.metadata.labels!, { owner: 'me' })],
    ['another release', (o) => Object.assign(o.metadata.labels!, { name: 'shop2' })],
    ['another type of Secret', (o) => Object.assign(o, { type: 'Opaque' })],
    ["a name that is not Helm's", (o) => Object.assign(o.metadata, { name: 'database-password' })],
    ['a name of another release', (o) => Object.assign(o.metadata, { name: 'sh.helm.release.v1.shop2.v1' })],
    ['a name without a revision', (o) => Object.assign(o.metadata, { name: 'sh.helm.release.v1.shop.v' })],
    ['revision 0', (o) => Object.assign(o.metadata, { name: 'sh.helm.release.v1.shop.v0' })],
    ['no uid', (o) => Object.assign(o.metadata, { uid: undefined })],
  ])('an object with %s is not a revision', (_, change) => {
    expect(stored(change)).toBeUndefined();
  });

  test.each([
    [{ name: 'other' }, 'the payload is of another release'],
    [{ revision: 9 }, 'the payload is of another revision'],
    [{ namespace: 'kube-system' }, 'the payload is of another namespace'],
  ])('a payload that contradicts its Secret is corrupt: %j', async (forged, expected) => {
    const read = stored((object) => {
      object.data = { release: encodeBase64(utf8(payloadOf(releaseJson(forged)))) };
    })!;
    const { decoded } = openStored(read, { name: 'shop', namespace: 'default' });
    expect(decoded).toEqual({ kind: 'corrupt', why: expected });
  });

  test('data without a payload, or with a payload that is not a string, is corrupt', async () => {
    for (const data of [undefined, {}, { release: 5 }, { release: '***' }]) {
      const read = stored((object) => {
        object.data = data;
      })!;
      expect(openStored(read, { name: 'shop', namespace: 'default' }).decoded.kind).toBe('corrupt');
    }
  });

  test('the selector finds both drivers', () => {
    expect(storageSelector('shop')).toBe('name=shop,owner=helm');
  });

  test.each([
    ['shop', true],
    ['a.b-c.d1', true],
    ['x'.repeat(53), true],
    ['x'.repeat(54), false],
    ['Shop', false],
    ['-a', false],
    ['a..b', false],
    ['', false],
    ['a,owner=x', false],
  ])('release name %j: %j', (name, ok) => {
    expect(isReleaseName(name)).toBe(ok);
  });
});
