// How keepers find the object they follow: under another version of its kind, and under the resource name of its kind.

import { hours, minutes } from '@lapse/base/instant';
import type { Kind } from '@lapse/kube/api/kind';
import type { KubeObject } from '@lapse/kube/api/object';
import type { ObjectKeeper } from 'lapse/api/objectKeeper';
import { expect } from 'vitest';
import { widgetOf, widgetsOf } from '../widgets.ts';
import { requestScenario } from './invariants.ts';

const REF = 'objectkeeper/k';

const follow = (
  { apiVersion, kind, metadata }: KubeObject,
  namespace = metadata.namespace ?? '',
): KubeObject => ({
  apiVersion: 'deckhouse.io/v1alpha1',
  kind: 'ObjectKeeper',
  metadata: { name: 'k' },
  spec: {
    mode: 'FollowObject',
    followObjectRef: { apiVersion, kind, namespace, name: metadata.name, uid: metadata.uid },
  },
});

requestScenario('a retired version: the object is followed in another version', async (scene) => {
  const { given, when, then } = scene;
  const widgets = widgetsOf('example.com');
  const v9: Kind = {
    group: 'example.com',
    version: 'v9',
    kind: 'Widget',
    resource: 'widgets',
    namespaced: true,
  };
  given.controllers('object-keeper');
  given.configuration({ objectKeeper: { follow: ['widgets.example.com'] } });
  await given.object(widgets);
  await given.object(widgetOf(widgets, 'w'));
  await when.user.apply(follow(await then.object('widget/w')));
  await when.timePasses(minutes(1));
  const [v1] = widgets.spec.versions;
  const versions = [
    { ...v1!, served: false, storage: false },
    { ...v1!, name: 'v9' },
  ];
  await when.user.apply({ ...widgets, spec: { ...widgets.spec, versions } } as KubeObject);
  await when.timePasses(hours(1));
  const { status } = await then.object<ObjectKeeper>(REF);
  expect(status!.conditions![0]).toMatchObject({ status: 'True', reason: 'ObjectExists' });
  const { user } = await scene.simulation();
  await user.delete(v9, { namespace: 'default', name: 'w' });
  await when.timePasses(minutes(2));
  await then.isGone(REF);
});

for (const namespace of ['', 'default'])
  requestScenario(
    `a cluster-scoped object whose reference names the namespace "${namespace}": the keeper is deleted with it`,
    async ({ given, when, then }) => {
      given.controllers('object-keeper');
      given.configuration({ objectKeeper: { follow: ['storageclasses.storage.k8s.io'] } });
      await given.object({
        apiVersion: 'storage.k8s.io/v1',
        kind: 'StorageClass',
        metadata: { name: 'fast' },
        provisioner: 'x',
      } as KubeObject);
      await when.user.apply(follow(await then.object('storageclass/fast'), namespace));
      await when.timePasses(minutes(1));
      await when.user.delete('storageclass/fast');
      await then.isGone(REF);
    },
  );
