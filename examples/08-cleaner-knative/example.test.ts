// The example, exactly as it stands, in a simulated cluster.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { millis, minutes } from '@lapse/base/instant';
import type { Cleaner } from 'lapse/api/cleaner';
import { expect } from 'vitest';
import { scenario } from '../../test/scenarios/scenario.ts';

const yaml = (name: string) => readFileSync(join(import.meta.dirname, name), 'utf8');

scenario(
  'the preview nobody uses goes; the other goes when its route does',
  async ({ given, when, then }) => {
    given.controllers('cleaner');
    given.configuration({ actAs: 'controller' });
    await given.object(yaml('1-kinds.yaml'));
    await given.object(yaml('2-previews.yaml'));
    await given.object(yaml('3-cleaners.yaml'));
    await when.timePasses(millis(minutes(1) - 1));
    await then.exists('services.serving.knative.dev/sfj-4f2a--shop');
    expect(then.requests(({ resource }) => resource === 'revisions')).toEqual([]);
    await when.timePasses(millis(1));
    await then.isGone('services.serving.knative.dev/sfj-4f2a--shop');
    await then.isGone('cleaner/sfj-4f2a--shop');
    await then.exists('services.serving.knative.dev/sfj-9c1d--shop');
    const { status } = await then.object<Cleaner>('cleaner/sfj-9c1d--shop');
    expect(status?.conditions?.[0]).toMatchObject({ status: 'True', reason: 'WaitingForConditions' });
    expect(status?.resolvedTargets).toEqual([
      'sfj-9c1d--shop-00001.revisions.serving.knative.dev/v1',
      'sfj-9c1d--shop.services.serving.knative.dev/v1',
    ]);
    await when.user.patch('revision/sfj-9c1d--shop-00001', {
      metadata: { annotations: { 'serving.knative.dev/routes': null } },
    });
    await then.isGone('services.serving.knative.dev/sfj-9c1d--shop');
  },
);
