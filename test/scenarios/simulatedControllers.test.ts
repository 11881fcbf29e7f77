// Simulated and real controllers together, as a user of the embedded cluster sees them.

import { hours, minutes, seconds } from '@lapse/base/instant';
import { job } from './kit.ts';
import { scenario } from './scenario.ts';

scenario(
  'a Job runs, finishes, and is deleted with its Pods when its TTL expires',
  async ({ given, when, then }) => {
    given.controllers('ttl-after-finished');
    given.simulatedControllers('owner-gc', 'job-finisher', 'pod-finisher');
    await given.object(
      job('report', {
        ttl: minutes(10),
        annotations: { 'simulation.lapse.dev/finish': 'succeeded after 90s' },
      }),
    );
    const { metadata } = await then.object('job/report');
    await given.object({
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: {
        name: 'report-1',
        namespace: 'default',
        annotations: { 'simulation.lapse.dev/finish': 'succeeded after 1m' },
        ownerReferences: [
          {
            apiVersion: 'batch/v1',
            kind: 'Job',
            name: 'report',
            uid: metadata.uid!,
            blockOwnerDeletion: true,
          },
        ],
      },
      spec: { restartPolicy: 'Never', containers: [{ name: 'main', image: 'busybox' }] },
    });
    await when.timePasses(hours(1));
    await then.isGone('job/report');
    await then.isGone('pod/report-1');
    then.timeline().toEqual(`
    +00:00  pod/report-1  Initialized=True
    +00:00  pod/report-1  Ready=True
    +00:00  pod/report-1  ContainersReady=True
    +00:00  pod/report-1  phase=Running
    +01:00  pod/report-1  finished
    +01:30  job/report  SuccessCriteriaMet=True  CompletionsReached
    +01:30  job/report  finished  ttl=10m
    +11:30  job/report  deleted  lag=0s
    +11:30  pod/report-1  deleted  by a simulated controller
  `);
  },
);

scenario(
  'a namespace deletes its contents, and waits for objects with finalizers',
  async ({ given, when, then }) => {
    given.simulatedControllers('owner-gc', 'namespace-gc');
    const named = (kind: string, name: string, more: object = {}) => ({
      apiVersion: 'v1',
      kind,
      metadata: { name, ...more },
    });
    await given.object(named('Namespace', 'preview'));
    await given.object(named('ConfigMap', 'free', { namespace: 'preview' }));
    await given.object(named('ConfigMap', 'held', { namespace: 'preview', finalizers: ['x.dev/hold'] }));
    await when.user.delete('namespace/preview');
    await when.timePasses(minutes(1));
    await then.isGone('preview/configmap/free');
    await then.isTerminating('preview/configmap/held');
    await when.user.patch('preview/configmap/held', { metadata: { finalizers: null } });
    await when.timePasses(seconds(8));
    await then.isGone('namespace/preview');
    then.timeline().toEqual(`
    +00:00  namespace/preview  terminating  by a user
    +00:00  namespace/preview  phase=Terminating
    +00:05  namespace/preview  NamespaceDeletionDiscoveryFailure=False  ResourcesDiscovered
    +00:05  namespace/preview  NamespaceDeletionGroupVersionParsingFailure=False  ParsedGroupVersions
    +00:05  namespace/preview  NamespaceDeletionContentFailure=False  ContentDeleted
    +00:05  namespace/preview  NamespaceContentRemaining=True  SomeResourcesRemain
    +00:05  namespace/preview  NamespaceFinalizersRemaining=True  SomeFinalizersRemain
    +00:05  preview/configmap/free  deleted  by a simulated controller
    +00:05  preview/configmap/held  terminating  by a simulated controller waits for x.dev/hold
    +01:00  preview/configmap/held  deleted
    +01:01  namespace/preview  NamespaceContentRemaining=False  ContentRemoved
    +01:01  namespace/preview  NamespaceFinalizersRemaining=False  ContentHasNoFinalizers
    +01:01  namespace/preview  deleted
  `);
  },
);
