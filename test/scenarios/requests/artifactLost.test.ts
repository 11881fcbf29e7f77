// A snapshot is taken once: the controller records what it begins before it begins, and never begins it again.

import { minutes, seconds } from '@lapse/base/instant';
import type { RequestObject } from 'lapse/api/storage/request';
import { expect } from 'vitest';
import type { Scene } from '../scene.ts';
import { requestScenario } from './invariants.ts';
import { capture, readyOf, snapshotClass, usualObjects, volumeWorld } from './kit.ts';
import { isAccepted } from './ruleScenarios.ts';

const REF = 'vcr/nightly';
const SLOW = snapshotClass('snap', {}, { annotations: { 'simulation.lapse.dev/snapshot': '1h' } });

async function underWay(
  { given, when, then }: Scene,
  simulatedControllers = ['csi-snapshotter'],
  before: () => void = () => {},
): Promise<string> {
  await volumeWorld(given, {
    families: ['volume-capture'],
    simulatedControllers,
    objects: [SLOW, ...usualObjects().slice(1)],
  });
  before();
  await when.user.apply(capture());
  return `vsc/snapshot-${(await then.object(REF)).metadata.uid}`;
}

const creates = async ({ simulation }: Scene): Promise<number> =>
  (await simulation())
    .writes()
    .filter(
      ({ verb, resource, status }) =>
        verb === 'create' && resource === 'volumesnapshotcontents' && status === 201,
    ).length;

const messageOf = async ({ then }: Scene): Promise<string | undefined> =>
  (await then.object<RequestObject>(REF)).status?.conditions?.[0]?.message;

requestScenario('records the content in the request before it creates the content', async (scene) => {
  const content = await underWay(scene);
  const writes = (await scene.simulation())
    .writes()
    .filter(isAccepted)
    .map(({ verb, resource }) => `${verb} ${resource}`);
  expect(writes).toEqual([
    'create objectkeepers',
    'patch volumecapturerequests',
    'create volumesnapshotcontents',
  ]);
  expect((await scene.then.object(REF)).metadata.annotations).toEqual({
    'storage.deckhouse.io/snapshot-content-name': content.slice('vsc/'.length),
  });
});

requestScenario('ends with ArtifactLost when the pending content is deleted', async (scene) => {
  const { when, then } = scene;
  await when.user.delete(await underWay(scene));
  expect(await readyOf(then, REF)).toBe('False ArtifactLost');
  expect(await messageOf(scene)).toContain('create a new request');
  await when.timePasses(minutes(5));
  expect(await creates(scene)).toBe(1);
});

requestScenario('ends with ArtifactLost when the content was deleted while Lapse was down', async (scene) => {
  const { when, then, simulation } = scene;
  const content = await underWay(scene);
  (await simulation()).crash();
  await when.user.delete(content);
  await when.processRestarts();
  await when.timePasses(minutes(5));
  expect(await readyOf(then, REF)).toBe('False ArtifactLost');
  expect(await creates(scene)).toBe(1);
});

requestScenario('a content that is being deleted is never a success', async (scene) => {
  const { when, then } = scene;
  const content = await underWay(scene, []);
  await when.user.patch(content, { metadata: { finalizers: ['example.com/slow'] } });
  when.cachesAreStale();
  await when.user.delete(content);
  await when.user.status(content, { readyToUse: true });
  await when.cachesCatchUp();
  await when.timePasses(seconds(2));
  expect(await readyOf(then, REF)).toBe('False ArtifactLost');
  expect(await messageOf(scene)).toContain('is being deleted');
});

requestScenario('creates the content again when the create got no answer', async (scene) => {
  const { when, then } = scene;
  await underWay(scene, undefined, () =>
    when.serverAnswers('create volumesnapshotcontents', { drop: 'before' }),
  );
  await when.timePasses(seconds(30));
  await then.exists(`vsc/snapshot-${(await then.object(REF)).metadata.uid}`);
  expect(await readyOf(then, REF)).toBeUndefined();
});

requestScenario('creates the content when the record of it got no answer', async (scene) => {
  const { when, then } = scene;
  await underWay(scene, undefined, () =>
    when.serverAnswers('patch volumecapturerequests', { drop: 'after' }),
  );
  await when.timePasses(seconds(30));
  await then.exists(`vsc/snapshot-${(await then.object(REF)).metadata.uid}`);
  expect(await readyOf(then, REF)).toBeUndefined();
});

requestScenario('does not create a content that another process had begun to create', async (scene) => {
  const { when, then, simulation } = scene;
  await underWay(scene, undefined, () =>
    when.serverAnswers('create volumesnapshotcontents', { hang: 'before' }),
  );
  (await simulation()).crash();
  await when.processRestarts();
  await when.timePasses(seconds(30));
  expect(await readyOf(then, REF)).toBe('False ArtifactLost');
  expect(await messageOf(scene)).toContain('create a new request');
});

requestScenario('records the content of a request that is taken over', async (scene) => {
  const { when, then } = scene;
  const content = await underWay(scene);
  await when.user.patch(REF, {
    metadata: { annotations: { 'storage.deckhouse.io/snapshot-content-name': null } },
  });
  expect((await then.object(REF)).metadata.annotations).toBeDefined();
  await when.user.delete(content);
  expect(await readyOf(then, REF)).toBe('False ArtifactLost');
});
