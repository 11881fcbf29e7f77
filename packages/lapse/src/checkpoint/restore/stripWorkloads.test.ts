import { describe } from 'vitest';
import { make, strips, token } from './strip.testkit.ts';

describe('workloads', () => {
  strips({
    'a Pod loses its node, priority, token and controller labels': [
      make(
        'v1',
        'Pod',
        {
          spec: {
            nodeName: 'n1',
            serviceAccount: 'default',
            serviceAccountName: 'default',
            priority: 0,
            preemptionPolicy: 'PreemptLowerPriority',
            runtimeClassName: 'vm',
            overhead: { podFixed: { cpu: '1' } },
            ephemeralContainers: [{ name: 'debug' }],
            initContainers: [{ name: 'init', volumeMounts: [token] }],
            containers: [{ name: 'web', volumeMounts: [{ name: 'data', mountPath: '/d' }, token] }],
            volumes: [{ name: 'data' }, { name: token.name, projected: {} }],
          },
          status: { phase: 'Running' },
        },
        {
          labels: { app: 'web', 'pod-template-hash': 'abc', 'statefulset.kubernetes.io/pod-name': 'a' },
          annotations: { 'cni.projectcalico.org/podIP': '10.1.1.1/32' },
        },
      ),
      {
        spec: {
          serviceAccountName: 'default',
          runtimeClassName: 'vm',
          initContainers: [{ name: 'init' }],
          containers: [{ name: 'web', volumeMounts: [{ name: 'data', mountPath: '/d' }] }],
          volumes: [{ name: 'data' }],
        },
        metadata: { labels: { app: 'web' } },
      },
    ],
    'a Deployment loses its revision': [
      make(
        'apps/v1',
        'Deployment',
        {
          spec: { replicas: 2, template: { metadata: { creationTimestamp: null } } },
          status: { replicas: 2 },
        },
        { annotations: { 'deployment.kubernetes.io/revision': '12' } },
      ),
      { spec: { replicas: 2, template: {} } },
    ],
    'a standalone ReplicaSet keeps the labels of its selector': [
      make('apps/v1', 'ReplicaSet', { spec: { selector: { matchLabels: { 'pod-template-hash': 'x' } } } }),
      { spec: { selector: { matchLabels: { 'pod-template-hash': 'x' } } } },
    ],
    'a Job loses its generated selector and labels': [
      make(
        'batch/v1',
        'Job',
        {
          spec: {
            manualSelector: false,
            selector: { matchLabels: { 'batch.kubernetes.io/controller-uid': 'u' } },
            template: {
              metadata: {
                creationTimestamp: null,
                labels: {
                  app: 'report',
                  'controller-uid': 'u',
                  'job-name': 'a',
                  'batch.kubernetes.io/controller-uid': 'u',
                  'batch.kubernetes.io/job-name': 'a',
                },
              },
            },
          },
        },
        {
          labels: { 'controller-uid': 'u', 'job-name': 'a' },
          annotations: { 'batch.kubernetes.io/job-tracking': '' },
        },
      ),
      { spec: { template: { metadata: { labels: { app: 'report' } } } } },
    ],
    'a Job with a manual selector keeps it': [
      make('batch/v1', 'Job', {
        spec: {
          manualSelector: true,
          selector: { matchLabels: { 'job-name': 'a' } },
          template: { metadata: { labels: { 'job-name': 'a' } } },
        },
      }),
      {
        spec: {
          manualSelector: true,
          selector: { matchLabels: { 'job-name': 'a' } },
          template: { metadata: { labels: { 'job-name': 'a' } } },
        },
      },
    ],
    'both nested templates of a CronJob are cleaned': [
      make('batch/v1', 'CronJob', {
        spec: {
          jobTemplate: {
            metadata: { creationTimestamp: null },
            spec: { template: { metadata: { creationTimestamp: null }, spec: {} } },
          },
        },
      }),
      { spec: { jobTemplate: { spec: { template: { spec: {} } } } } },
    ],
  });
});
