// What a decision of a Cleaner records about rights, and that it reviews them without the cache.

import { minutes, seconds } from '@lapse/base/instant';
import type { Cleaner } from 'lapse/api/cleaner';
import { expect, test } from 'vitest';
import { cleaner, configMap, target } from './kit.ts';
import { withRbac } from './rbac.ts';

const AUTHOR = 'admin';
const ROBOT = 'system:serviceaccount:default:robot';
const ALL = ['get', 'list', 'watch', 'delete'].map((verb) => `${verb} configmaps`);

test('records the account that a decision was made for', () =>
  withRbac({}, async ({ rbac, simulation }) => {
    rbac.allow(AUTHOR, 'impersonate serviceaccounts');
    rbac.allow(ROBOT, ...ALL);
    let recorded: unknown;
    simulation.faults.justBefore('delete configmaps', async () => {
      recorded = (await simulation.get<Cleaner>('cleaner/c'))?.status?.deletion;
    });
    const targets = [target('a', 'a', { delete: true })];
    await simulation.apply([configMap('a'), cleaner({ ttl: '1m', targets, serviceAccountName: 'robot' })]);
    await simulation.timePasses(minutes(2));
    expect(await simulation.get('configmap/a')).toBeUndefined();
    expect(recorded).toMatchObject({ serviceAccountName: 'robot' });
  }));

test('keeps the target when the right to read it was revoked since the last evaluation', () =>
  withRbac({}, async ({ rbac, simulation }) => {
    rbac.allow(AUTHOR, ...ALL);
    const spec = {
      ttl: '1m',
      targets: [target('a', 'a', { delete: true, include: true })],
      conditions: ['has(a.metadata.labels) && "done" in a.metadata.labels'],
      retry: { period: '10m' },
    };
    await simulation.apply([configMap('a'), cleaner(spec)]);
    await simulation.timePasses(seconds(61));
    rbac.revoke(AUTHOR);
    rbac.allow(AUTHOR, 'watch configmaps', 'delete configmaps');
    await simulation.patch('configmap/a', { metadata: { labels: { done: 'yes' } } });
    await simulation.timePasses(seconds(5));
    expect(await simulation.get('configmap/a')).toBeDefined();
    const { status } = (await simulation.get<Cleaner>('cleaner/c'))!;
    expect(status?.conditions?.[0]).toMatchObject({ reason: 'Forbidden' });
    expect(status?.conditions?.[0]?.message).toContain(`${AUTHOR} may not get configmaps`);
  }));
