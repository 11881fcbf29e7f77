// The limit of a Cleaner: it deletes everything or nothing, and waits for an approval.

import { hours, minutes } from '@lapse/base/instant';
import { expect } from 'vitest';
import { scenario } from '../scenario.ts';
import { begin, cleaner, configMap, reasonOf, statusOf, target } from './kit.ts';

const objects = ['a', 'b', 'c'].map((name) => configMap(name, { app: 'x' }));
const limited = cleaner({
  targets: [target('all', { app: 'x' }, { delete: true })],
  limits: { maxDeletions: 2 },
});
const approval = (generation: number, deletions: number) => ({
  metadata: { annotations: { 'lapse.dev/approved-deletions': JSON.stringify({ generation, deletions }) } },
});

scenario(
  'a Cleaner that would delete more than its limit deletes nothing, also after a restart',
  async (scene) => {
    begin(scene);
    const { given, when, then } = scene;
    await given.object([...objects, limited]);
    await when.timePasses(hours(2));
    expect(await reasonOf(scene)).toBe('LimitExceeded');
    await when.processRestarts();
    // Fewer objects than the limit are left: it is still stopped.
    await when.user.delete('configmap/a');
    await when.user.delete('configmap/b');
    await when.timePasses(hours(2));
    await then.exists('configmap/c');
    expect(await reasonOf(scene)).toBe('LimitExceeded');
    const events = (await then.events('cleaner/c')).filter(({ reason }) => reason === 'LimitExceeded');
    expect(events).toHaveLength(1);
  },
);

scenario('an approval lets the Cleaner delete; one for fewer objects does not', async (scene) => {
  begin(scene);
  const { given, when, then } = scene;
  await given.object([...objects, limited]);
  await when.timePasses(hours(2));
  await when.user.patch('cleaner/c', approval(1, 2));
  await when.timePasses(minutes(10));
  await then.exists('configmap/a');
  expect((await statusOf(scene)).conditions?.[0]?.message).toContain(
    '2 deletions are approved, but 3 objects',
  );
  await when.user.patch('cleaner/c', approval(1, 3));
  await when.timePasses(minutes(10));
  await then.isGone('configmap/a');
  await then.isGone('cleaner/c');
});
