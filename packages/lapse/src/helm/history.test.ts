// Tests which revisions of a history are unpacked, and the total limit.

import { gzipSync } from 'node:zlib';
import { encodeBase64, utf8 } from '@lapse/base/codec';
import { instant } from '@lapse/base/instant';
import { describe, expect, test } from 'vitest';
import { document, type ReleaseFixture, releaseJson, storedRelease } from './release.testkit.ts';
import { openHistory, type Revision, readStored, type Stored } from './storage.ts';
import { planUninstall } from './uninstallPlan.ts';

const RELEASE = { name: 'shop', namespace: 'default' };

function stored(given: ReleaseFixture, payload?: string): Stored {
  const object = storedRelease(given);
  const metadata = { ...object.metadata, uid: `uid-${given.revision}` };
  const read = readStored({ ...object, metadata }, 'secret', 'shop');
  if (read === undefined) throw new Error('the fixture is not a release');
  return payload === undefined ? read : { ...read, payload };
}

/** A payload of a few kilobytes that unpacks to this many MiB. Its status contradicts its label. */
const bomb = (revision: number, mebibytes: number): string =>
  encodeBase64(
    gzipSync(
      utf8(
        JSON.stringify({
          ...releaseJson({ revision, status: 'superseded' }),
          chart: ' '.repeat(mebibytes * 2 ** 20),
        }),
      ),
      { level: 1 },
    ),
  );

const opened = (history: readonly Revision[]): number[] =>
  history
    .filter(({ decoded }) => decoded.kind === 'release' || decoded.why !== 'not opened')
    .map(({ revision }) => revision);

const overLimit = (history: readonly Revision[]): number[] =>
  history.filter(({ decoded }) => decoded.kind === 'corrupt' && decoded.isOverLimit).map((r) => r.revision);

describe('a history', () => {
  test('of 64 revisions with the label deployed has only the newest unpacked', async () => {
    const revisions = Array.from({ length: 64 }, (_, i) => stored({ revision: i + 1 }));
    expect(opened(await openHistory(revisions, RELEASE))).toEqual([64]);
  });

  test('whose newest revision failed has the last deployed one unpacked as well', async () => {
    const revisions = [
      stored({ revision: 1, status: 'deployed' }),
      stored({ revision: 2, status: 'superseded' }),
      stored({ revision: 3, status: 'deployed' }),
      stored({ revision: 4, status: 'failed' }),
    ];
    expect(opened(await openHistory(revisions, RELEASE))).toEqual([3, 4]);
  });

  test('is unpacked up to a total limit, and a revision beyond it makes the uninstall plan corrupt', async () => {
    const bombs = Array.from({ length: 8 }, (_, i) =>
      stored({ revision: i + 1, status: 'deployed' }, bomb(i + 1, 7)),
    );
    const newest = stored({ revision: 9, status: 'failed', manifest: document('ConfigMap', 'a') });
    const history = await openHistory([...bombs, newest], RELEASE);
    // Four of 7 MiB fit into 32 MiB, the fifth crosses the limit.
    expect(overLimit(history)).toEqual([1, 2, 3, 4]);
    expect(planUninstall(history, instant(0))).toEqual({
      kind: 'corrupt',
      why: 'revision 4: the payload unpacks to more than 4 MiB',
    });
  });

  test('is returned in revision order, regardless of the input order', async () => {
    const revisions = [3, 1, 2].map((revision) => stored({ revision }));
    const history = await openHistory(revisions, RELEASE);
    expect(history.map(({ revision }) => revision)).toEqual([1, 2, 3]);
  });
});

describe('a manifest', () => {
  const planOf = async (manifest: string) =>
    planUninstall(await openHistory([stored({ revision: 1, manifest })], RELEASE), instant(0));

  test('with a CustomResourceDefinition of two megabytes yields all of its objects', async () => {
    const big = `spec:\n${'  a:\n    type: string\n'.repeat(100_000)}`;
    const plan = await planOf(`${document('ConfigMap', 'a', big)}${document('Secret', 'b')}`);
    expect(plan.kind === 'uninstall' && plan.steps.removals.map(({ name }) => name).sort()).toEqual([
      'a',
      'b',
    ]);
  });

  test.each([
    ['a flow list of 50,000 items', `kind: A\n"x": [${'[],'.repeat(50_000)}]\n`],
    ['a List of 50,000 empty items', `kind: List\napiVersion: v1\nitems:\n${'- {}\n'.repeat(50_000)}`],
    ['aliases that expand exponentially', aliases(9)],
    ['more metadata than the limit', document('ConfigMap', 'a', `  labels:\n${'    a: b\n'.repeat(30_000)}`)],
  ])('with %s is refused', async (_, manifest) => {
    const plan = await planOf(manifest);
    expect(plan).toMatchObject({ kind: 'corrupt' });
  });

  test('with an anchor in a field that is cut is parsed as a whole', async () => {
    const plan = await planOf(
      'apiVersion: v1\nkind: ConfigMap\ndata: &data\n  name: shared\nmetadata: *data\n',
    );
    expect(plan.kind === 'uninstall' && plan.steps.removals).toMatchObject([{ name: 'shared' }]);
  });
});

function aliases(levels: number): string {
  const lines = ['kind: List', 'apiVersion: v1', 'items:', '- &a0 [x, x, x, x, x, x, x, x, x]'];
  for (let i = 1; i <= levels; i++)
    lines.push(
      `- &a${i} [${Array(9)
        .fill(`*a${i - 1}`)
        .join(', ')}]`,
    );
  return lines.join('\n');
}
