// Namespaces, config, secrets, accounts, leases, nodes, quotas, events, endpoints.

import { del, get, type Probe, patch, post, put, resource } from './probe.ts';

const configMap = resource('v1', 'ConfigMap', 'configmaps');
const secret = resource('v1', 'Secret', 'secrets');
const account = resource('v1', 'ServiceAccount', 'serviceaccounts');
const lease = resource('coordination.k8s.io/v1', 'Lease', 'leases');
const node = resource('v1', 'Node', 'nodes', false);
const quota = resource('v1', 'ResourceQuota', 'resourcequotas');
const limits = resource('v1', 'LimitRange', 'limitranges');
const endpoints = resource('v1', 'Endpoints', 'endpoints');
const event = resource('v1', 'Event', 'events');
const modern = resource('events.k8s.io/v1', 'Event', 'events');

const namespaces = '/api/v1/namespaces';
const namespace = '/api/v1/namespaces/{ns}';
const about = { kind: 'Pod', namespace: '{ns}', name: 'p' };
const fullEvent = {
  eventTime: '2024-01-01T00:00:00.000000Z',
  reportingController: 'example.com/c',
  reportingInstance: 'c-1',
  action: 'Act',
  reason: 'Because',
  regarding: about,
  note: 'n',
  type: 'Normal',
};

export const probes: readonly Probe[] = [
  { name: 'Namespace: name', steps: [post(namespaces, { metadata: { name: 'Bad_Name' } })] },
  {
    name: 'Namespace: long name',
    steps: [post(namespaces, { metadata: { name: 'a'.repeat(64) } })],
  },
  {
    name: 'Namespace: finalizers of the spec',
    steps: [
      post(namespaces, { metadata: { name: '{ns}-b' }, spec: { finalizers: ['example.com/f'] } }),
      post(namespaces, { metadata: { name: '{ns}-c' }, spec: { finalizers: ['odd', 'Bad name/x'] } }),
      put(`${namespace}-b/finalize`, { metadata: { name: '{ns}-b' }, spec: { finalizers: ['odd'] } }),
      put(`${namespace}-b/finalize`, { metadata: { name: '{ns}-b' }, spec: { finalizers: ['kubernetes'] } }),
      get(`${namespace}-b`),
    ],
  },
  {
    name: 'Namespace: label and status',
    steps: [
      patch(namespace, { metadata: { labels: { 'kubernetes.io/metadata.name': 'other', a: 'b' } } }),
      patch(namespace, { metadata: { labels: null } }),
      patch(namespace, { status: { phase: 'Terminating' } }),
      patch(`${namespace}/status`, { status: { phase: 'Active' }, spec: { finalizers: [] } }),
      patch(`${namespace}/status`, { status: { phase: 'Other' } }),
      patch(namespace, { metadata: { finalizers: ['unqualified'] } }),
      patch(namespace, { metadata: { finalizers: ['example.com/x'] } }),
      del(namespace),
      del(`${namespace}?propagationPolicy=Foreground`),
      patch(`${namespace}/status`, { status: { phase: 'Active' } }),
      put(`${namespace}/finalize`, { metadata: { name: '{ns}' }, spec: { finalizers: [] } }),
      get(namespace),
      patch(namespace, { metadata: { finalizers: null } }),
      get(namespace),
    ],
  },
  { name: 'Namespace: default stays', steps: [del('/api/v1/namespaces/default')] },
  configMap.create('unqualified finalizer', {}, { finalizers: ['short'] }),
  configMap.create('generateName with a bad character', {}, { name: null, generateName: 'bad_' }),
  configMap.create('generateName with a dot', {}, { name: null, generateName: 'Bad.' }),
  configMap.create('bad keys', {
    data: { '..': 'x', '.': 'y', '..a': 'z', 'a b': 'c' },
    binaryData: { '/': 'eA==' },
  }),
  configMap.patches(
    'immutable',
    { data: { a: 'b' }, immutable: true },
    { data: { a: 'c' } },
    { immutable: null },
    { binaryData: { x: 'eA==' } },
    { metadata: { labels: { ok: 'yes' } } },
  ),
  configMap.patches(
    'metadata on update',
    {},
    { metadata: { labels: { 'bad key': 'x' } } },
    { metadata: { annotations: { 'bad key': 'x' } } },
    { metadata: { finalizers: ['short'] } },
    { metadata: { finalizers: ['Bad name'] } },
    { metadata: { finalizers: ['orphan', 'foregroundDeletion'] } },
    { metadata: { ownerReferences: [{ apiVersion: 'v1', kind: 'X', name: '', uid: '' }] } },
    { metadata: { ownerReferences: [{ apiVersion: 'a/b/c', kind: 'X', name: 'n', uid: 'u' }] } },
  ),
  secret.create('tls without its keys', { type: 'kubernetes.io/tls', data: { a: 'YQ==' } }),
  secret.create('tls that is none', {
    type: 'kubernetes.io/tls',
    data: { 'tls.crt': 'YQ==', 'tls.key': 'YQ==' },
  }),
  secret.create('basic auth', { type: 'kubernetes.io/basic-auth', data: {} }),
  secret.create('basic auth, half', { type: 'kubernetes.io/basic-auth', data: { username: 'YQ==' } }),
  secret.create('ssh', { type: 'kubernetes.io/ssh-auth', data: { 'ssh-privatekey': '' } }),
  secret.create('dockercfg missing', { type: 'kubernetes.io/dockercfg' }),
  secret.create('dockercfg broken', {
    type: 'kubernetes.io/dockercfg',
    stringData: { '.dockercfg': '{oops' },
  }),
  secret.create('docker config list', {
    type: 'kubernetes.io/dockerconfigjson',
    stringData: { '.dockerconfigjson': '[]' },
  }),
  secret.create('token without account', { type: 'kubernetes.io/service-account-token' }),
  secret.create('stringData wins', { data: { a: 'YQ==' }, stringData: { a: 'b', c: 'd' } }),
  secret.create('bad key', { data: { 'a b': 'YQ==' } }),
  secret.patches(
    'changes',
    { data: { a: 'YQ==' } },
    { stringData: { b: 'c' } },
    { type: null },
    { type: 'Other' },
    { immutable: true },
    { data: { a: 'Yg==' } },
    { immutable: false },
  ),
  account.create('secrets keep names only', {
    secrets: [{ name: 'a', namespace: 'b', kind: 'Secret' }],
    imagePullSecrets: [{ name: 'p' }],
  }),
  account.create(
    'deprecated annotation',
    {},
    { annotations: { 'kubernetes.io/enforce-mountable-secrets': 'true' } },
  ),
  account.after('is returned by DELETE', {}, del(account.one)),
  lease.create('strategy is behind a gate', { spec: { strategy: 'Nonsense', preferredHolder: 'x' } }),
  lease.create('unqualified finalizer', {}, { finalizers: ['short'] }),
  lease.after(
    'needs a version',
    { spec: { holderIdentity: 'a' } },
    put(lease.one, lease.object({ spec: { holderIdentity: 'b' } })),
    patch(lease.one, { spec: { leaseDurationSeconds: -1, leaseTransitions: -1 } }),
  ),
  node.create('resources and ranges', {
    spec: { podCIDR: '10.1.0.0/24' },
    status: { capacity: { cpu: '4', memory: '1024Mi', pods: '110' } },
  }),
  node.create('bad taints and amounts', {
    spec: {
      taints: [
        { key: 'a', effect: 'NoSchedule' },
        { key: 'a', effect: 'NoSchedule' },
        { key: 'b c', value: 'x y', effect: 'Odd' },
        { key: 'd' },
      ],
      podCIDRs: ['nonsense', '10.0.0.1/24', '010.0.0.0/24'],
    },
    status: { capacity: { cpu: '-1', pods: '1500m' } },
  }),
  node.create('two ranges of one family', { spec: { podCIDRs: ['10.1.0.0/24', '10.2.0.0/24'] } }),
  node.create('single range leads', {
    spec: { podCIDR: '10.1.0.0/24', podCIDRs: ['10.2.0.0/24', 'fd00::/64'] },
  }),
  node.create('external id', { spec: { externalID: 'x' } }),
  node.patches(
    'once set',
    { spec: { podCIDR: '10.1.0.0/24', providerID: 'p' } },
    { spec: { podCIDR: '10.9.0.0/24', podCIDRs: ['10.9.0.0/24'] } },
    { spec: { providerID: 'q' } },
    { spec: { unschedulable: true } },
    { status: { phase: 'Running' } },
    { spec: { taints: [{ key: 'x', effect: 'Odd' }] } },
  ),
  node.subPatches(
    'status',
    'status',
    {},
    {
      status: {
        addresses: [
          { type: 'InternalIP', address: '1.2.3.4' },
          { type: 'InternalIP', address: '1.2.3.4' },
        ],
      },
    },
    { status: { capacity: { cpu: '2' } }, spec: { unschedulable: true } },
    { status: { conditions: [{ type: 'Ready', status: 'True' }] } },
  ),
  quota.create('names and amounts', {
    spec: { hard: { cpu: '1', pods: '1.5', odd: '1', 'count/jobs.batch': '3' } },
  }),
  quota.create('request above limit', { spec: { hard: { 'requests.cpu': '4', 'limits.cpu': '2' } } }),
  quota.create('scopes', { spec: { hard: { pods: '1' }, scopes: ['BestEffort', 'NotBestEffort', 'Odd'] } }),
  quota.patches(
    'scopes do not change',
    { spec: { hard: { pods: '1' }, scopes: ['BestEffort'] } },
    { spec: { scopes: ['Terminating'] } },
    { spec: { hard: { pods: '2' } }, status: { hard: { pods: '9' } } },
  ),
  quota.subPatches(
    'status',
    'status',
    { spec: { hard: { pods: '1' } } },
    { status: { hard: { pods: '1' }, used: { pods: '-1' } } },
  ),
  quota.after('is returned by DELETE', { spec: { hard: { pods: '1' } } }, del(quota.one)),
  limits.create('defaults', {
    spec: { limits: [{ type: 'Container', max: { cpu: '2' }, min: { cpu: '1', memory: '1Mi' } }] },
  }),
  limits.create('bounds', {
    spec: {
      limits: [
        { type: 'Container', max: { cpu: '1' }, min: { cpu: '2' } },
        { type: 'Pod', default: { cpu: '1' }, defaultRequest: { cpu: '1' } },
        { type: 'PersistentVolumeClaim', max: { cpu: '1' } },
        { type: 'Odd', max: { cpu: '1' } },
        { type: 'Container', max: { odd: '1' } },
      ],
    },
  }),
  endpoints.create('subsets', {
    subsets: [
      { ports: [{ port: 80 }] },
      {
        addresses: [{ ip: '127.0.0.1' }, { ip: 'x' }, { ip: '010.0.0.1' }, { ip: '0.0.0.0' }],
        ports: [{ port: 0 }, { port: 1 }],
      },
    ],
  }),
  endpoints.after(
    'created by PUT',
    {},
    put(`${endpoints.all}/y`, { metadata: { name: 'y' } }),
    del(endpoints.one),
  ),
  event.create('any name', { involvedObject: about, reason: 'R' }, { name: 'Some_Name.1' }),
  event.create('with a time', { involvedObject: about, eventTime: '2024-01-01T00:00:00.000000Z' }),
  event.create('without a namespace', { involvedObject: { kind: 'Node', name: 'n' } }),
  event.after(
    'propagation is ignored',
    { involvedObject: about },
    del(`${event.one}?propagationPolicy=Foreground`),
    get(event.one),
  ),
  modern.create('old fields', {
    ...fullEvent,
    deprecatedCount: 1,
    deprecatedFirstTimestamp: '2024-01-01T00:00:00Z',
    deprecatedSource: { component: 'c' },
    series: { count: 1 },
  }),
  modern.patches(
    'fixed',
    fullEvent,
    { reason: 'Other', type: 'Warning', note: 'm' },
    { series: { count: 1, lastObservedTime: '2024-01-01T00:00:00.000000Z' } },
    { series: { count: 3, lastObservedTime: '2024-01-01T00:00:00.000000Z' } },
    { metadata: { labels: { 'b c': 'd' } } },
  ),
  {
    name: 'Event: refusals of both groups',
    steps: [
      get(`${modern.all}/missing`),
      del(`${modern.all}/missing`),
      post(modern.all, modern.object(fullEvent)),
      post(modern.all, modern.object(fullEvent)),
      put(modern.one, modern.object(fullEvent, { resourceVersion: '1' })),
      get(`${modern.all}?fieldSelector=regarding.kind%3DPod`),
      get(`${modern.all}?fieldSelector=involvedObject.kind%3DPod`),
      get(`${event.all}?fieldSelector=involvedObject.kind%3DPod`),
      get(`${event.all}?fieldSelector=nope%3DPod`),
      del(`${modern.one}?uid=nope`),
      del(modern.one),
    ],
  },
  {
    name: 'Field selectors that are not supported',
    steps: [
      get('/api/v1/nodes?fieldSelector=metadata.namespace%3Dx'),
      get('/api/v1/persistentvolumes?fieldSelector=metadata.namespace%3Dx'),
      get('/apis/batch/v1/namespaces/{ns}/jobs?fieldSelector=spec.x%3Dx'),
      get('/api/v1/namespaces/{ns}/pods?fieldSelector=status.podIPs%3Dx'),
      get('/api/v1/namespaces/{ns}/services?fieldSelector=spec.type%3DClusterIP'),
      get('/api/v1/namespaces/{ns}/configmaps?fieldSelector=data%3Dx'),
    ],
  },
];
