// For tests: how the schema and the validation rules of the CRDs treat pools and volume groups. The table is run
// against the embedded and a real API server.

import type { Kind } from '@lapse/kube/api/kind';
import type { KubeObject } from '@lapse/kube/api/object';
import { type Client, objectOf } from '@lapse/kube/client/client';
import { LVMVolumeGroup } from '#api/lvmVolumeGroup';
import { ReplicatedStoragePool } from '#api/replicatedStoragePool';
import { lvg, pool } from './pool.testkit.ts';

export interface CrdCase {
  readonly rule: string;
  readonly kind: Kind;
  readonly object: KubeObject;
  /** A merge patch, applied after the object is created. */
  readonly change?: object;
  /** Part of the error message. Undefined: the object is accepted. */
  readonly refused?: string;
}

const rsp = (rule: string, object: KubeObject, refused?: string): CrdCase => ({
  rule,
  kind: ReplicatedStoragePool as Kind,
  object,
  ...(refused === undefined ? {} : { refused }),
});
const change = (rule: string, object: KubeObject, spec: object, refused?: string): CrdCase => ({
  ...rsp(rule, object, refused),
  change: { spec },
});
/** The spec with one field set to a value that the types do not allow. */
const odd = (field: string, value: unknown): KubeObject => {
  const made = pool('p', ['vg']);
  return { ...made, spec: { ...made.spec, [field]: value } };
};
const selecting = (matchExpressions: unknown) => odd('nodeLabelSelector', { matchExpressions });

const IMMUTABLE = 'Value is immutable.';
const OPERATOR = 'matchExpressions[].operator must be one of: In, NotIn, Exists, DoesNotExist';
const VALUES =
  'matchExpressions[].values must be empty for Exists/DoesNotExist operators, non-empty for In/NotIn';
const DURATION = 'must be a Go duration of at least 0s, for example 10m or 1h30m';
const grace = (notReadyGracePeriod: unknown) => odd('eligibleNodesPolicy', { notReadyGracePeriod });

export const CRD_CASES: readonly CrdCase[] = [
  rsp('an LVM pool', pool('p', ['vg'])),
  rsp('an LVMThin pool', pool('p', ['vg/tp'])),
  rsp('an unknown type', odd('type', 'ZFS'), 'spec.type: Unsupported value: "ZFS"'),
  rsp('no volume groups', odd('lvmVolumeGroups', []), 'spec.lvmVolumeGroups'),
  rsp('a name with capitals', pool('p', ['VG']), 'spec.lvmVolumeGroups[0].name'),
  rsp('an empty name', pool('p', ['']), 'spec.lvmVolumeGroups[0].name'),
  rsp(
    'a thin pool name that starts with a dash',
    pool('p', ['vg/-a']),
    'spec.lvmVolumeGroups[0].thinPoolName',
  ),
  rsp('a thin pool name with plus and dots', pool('p', ['vg/a+b.c_d'])),
  rsp(
    'LVMThin without the thin pool',
    pool('p', ['vg'], { type: 'LVMThin' }),
    'thinPoolName is required for each lvmVolumeGroups entry when type is LVMThin',
  ),
  rsp(
    'LVM with a thin pool',
    pool('p', ['vg/tp'], { type: 'LVM' }),
    'thinPoolName must not be specified when type is LVM',
  ),
  rsp('the same group twice', pool('p', ['vg', 'vg'])),
  rsp('ten zones', pool('p', ['vg'], { zones: Array.from({ length: 10 }, (_, i) => `z${i}`) })),
  rsp(
    'eleven zones',
    pool('p', ['vg'], { zones: Array.from({ length: 11 }, (_, i) => `z${i}`) }),
    'spec.zones: Too many',
  ),
  rsp('a zone twice', pool('p', ['vg'], { zones: ['a', 'a'] }), 'spec.zones[1]: Duplicate value'),
  rsp('a zone that is no label value is left to the controller', pool('p', ['vg'], { zones: ['a b'] })),
  rsp(
    'a selector',
    selecting([
      { key: 'a', operator: 'In', values: ['x'] },
      { key: 'b', operator: 'Exists' },
    ]),
  ),
  rsp(
    'NotIn and DoesNotExist',
    selecting([
      { key: 'a', operator: 'NotIn', values: ['x'] },
      { key: 'b', operator: 'DoesNotExist', values: [] },
    ]),
  ),
  rsp('another operator', selecting([{ key: 'a', operator: 'Gt', values: ['1'] }]), OPERATOR),
  rsp('In without values', selecting([{ key: 'a', operator: 'In' }]), VALUES),
  rsp('NotIn with no values', selecting([{ key: 'a', operator: 'NotIn', values: [] }]), VALUES),
  rsp('Exists with values', selecting([{ key: 'a', operator: 'Exists', values: ['x'] }]), VALUES),
  rsp(
    'a key that is none is left to the controller',
    odd('nodeLabelSelector', { matchLabels: { 'a b': 'c' } }),
  ),
  rsp(
    'another network',
    pool('p', ['vg'], { systemNetworkNames: ['Storage'] }),
    "Only 'Internal' network is currently supported",
  ),
  rsp(
    'two networks',
    pool('p', ['vg'], { systemNetworkNames: ['Internal', 'Internal'] }),
    'spec.systemNetworkNames: Too many',
  ),
  ...['0s', '0', '10m', '1h30m', '1.5s', '+5m', '300us', '2562047h'].map((text) =>
    rsp(`a grace period of ${text}`, grace(text)),
  ),
  ...['', '10', '10 m', '-1s', '1d', 'soon', '10m '].map((text) =>
    rsp(`a grace period of ${JSON.stringify(text)}`, grace(text), DURATION),
  ),
  rsp('a grace period beyond what Go can hold', grace('9999999h'), 'eligibleNodesPolicy.notReadyGracePeriod'),
  rsp('a grace period that is a number', grace(600), 'notReadyGracePeriod: Invalid value: "integer"'),
  change('the type is changed', pool('p', ['vg/tp']), { type: 'LVM' }, IMMUTABLE),
  change(
    'the volume groups are changed',
    pool('p', ['vg']),
    { lvmVolumeGroups: [{ name: 'other' }] },
    IMMUTABLE,
  ),
  change('the zones are changed', pool('p', ['vg'], { zones: ['a'] }), { zones: ['b'] }, IMMUTABLE),
  change(
    'the selector is changed',
    pool('p', ['vg'], { nodeLabelSelector: { matchLabels: { a: 'b' } } }),
    { nodeLabelSelector: { matchLabels: { a: 'c' } } },
    IMMUTABLE,
  ),
  change('zones are added', pool('p', ['vg']), { zones: ['a'] }),
  change('the selector is dropped', pool('p', ['vg'], { nodeLabelSelector: { matchLabels: { a: 'b' } } }), {
    nodeLabelSelector: null,
  }),
  change('the grace period is changed', pool('p', ['vg']), {
    eligibleNodesPolicy: { notReadyGracePeriod: '1h' },
  }),
  {
    rule: 'a volume group',
    kind: LVMVolumeGroup as Kind,
    object: lvg('vg', 'n1', { thinPools: { tp: true } }),
  },
  {
    rule: 'a volume group that does not say where it is',
    kind: LVMVolumeGroup as Kind,
    object: lvg('vg', ''),
  },
  {
    rule: 'a volume group as its own agent writes it',
    kind: LVMVolumeGroup as Kind,
    object: {
      ...lvg('vg', 'n1'),
      spec: {
        type: 'Local',
        local: { nodeName: 'n1' },
        actualVGNameOnTheNode: 'vg-0',
        blockDeviceSelector: { matchLabels: { a: 'b' } },
        thinPools: [{ name: 'tp', size: '50%', allocationLimit: '150%' }],
      },
    },
  },
  {
    rule: 'a volume group without the name of its node',
    kind: LVMVolumeGroup as Kind,
    object: { ...lvg('vg', 'n1'), spec: { local: {} } },
    refused: 'spec.local.nodeName: Required value',
  },
  {
    rule: 'a thin pool without a name',
    kind: LVMVolumeGroup as Kind,
    object: { ...lvg('vg', 'n1'), spec: { thinPools: [{ size: '1Gi' }] } },
    refused: 'spec.thinPools[0].name: Required value',
  },
  {
    rule: 'a volume group moves to another node',
    kind: LVMVolumeGroup as Kind,
    object: lvg('vg', 'n1'),
    change: { spec: { local: { nodeName: 'n2' } } },
    refused: IMMUTABLE,
  },
];

/** Returns the error message, or undefined. Deletes what it creates. */
export async function tryCase(
  client: Client,
  { kind, object, change: patch }: CrdCase,
  name: string,
): Promise<string> {
  const named = { ...object, metadata: { ...object.metadata, name } };
  const created = await client.create(kind, named, { dryRun: patch === undefined });
  if (created.kind !== 'created' || patch === undefined)
    return created.kind === 'created' ? '' : created.error.message;
  const answer = await client.patch(kind, { name }, { type: 'merge', patch });
  await client.delete(kind, { name });
  return answer.kind === 'patched' ? '' : answer.error.message;
}

/** The result of the smallest valid manifest, with defaults. */
export async function createLeast(client: Client): Promise<ReplicatedStoragePool['spec']> {
  const { spec: _, ...rest } = pool('least', []);
  const spec = { type: 'LVM', lvmVolumeGroups: [{ name: 'vg' }] } as unknown as ReplicatedStoragePool['spec'];
  return objectOf(await client.create(ReplicatedStoragePool, { ...rest, spec }, { dryRun: true })).spec;
}

export const LEAST_SPEC = {
  type: 'LVM',
  lvmVolumeGroups: [{ name: 'vg' }],
  systemNetworkNames: ['Internal'],
  eligibleNodesPolicy: { notReadyGracePeriod: '10m' },
};
