// Checks what captures and restores of volumes need: the snapshot CRDs, the CSI drivers of the snapshot classes, and who
// serves restores. One line per mode says what will work.

import { isObject, type Json } from '@lapse/kube/api/json';
import { defineKind, type Kind } from '@lapse/kube/api/kind';
import { CustomResourceDefinition } from '@lapse/kube/api/kinds/builtin';
import { VolumeSnapshot, VolumeSnapshotClass, VolumeSnapshotContent } from '@lapse/kube/api/kinds/volumes';
import { asJson, type KubeObject } from '@lapse/kube/api/object';
import { type DoctorContext, type Examination, type Finding, listIfAllowed } from './finding.ts';

const check = 'storage';
const CAPTURE = 'volume-capture';
const RESTORE = 'volume-restore';
const CsiDriver = defineKind({
  group: 'storage.k8s.io',
  version: 'v1',
  kind: 'CSIDriver',
  resource: 'csidrivers',
  namespaced: false,
});
const DECKHOUSE = { group: 'deckhouse.io', kind: 'ModuleConfig' };

export const examineStorage: Examination = async (context) => {
  const needing = context.selected
    .map(({ name }) => name)
    .filter((name) => name === CAPTURE || name === RESTORE);
  if (needing.length === 0) return [];
  const missing = await missingKinds(context, needing);
  const snapshots = missing.length > 0 ? missing : await examineSnapshots(context);
  const detach: Finding = {
    check,
    level: 'ok',
    about: 'mode Detach',
    message: 'needs a volume with the reclaim policy Retain',
  };
  return [
    ...snapshots,
    ...(needing.includes(CAPTURE) ? [detach] : []),
    ...(needing.includes(RESTORE) ? [await examineRestores(context)] : []),
  ];
};

/** Whether captures create VolumeSnapshots (`snapshot.via`). */
const createsSnapshots = ({ assembly }: DoctorContext): boolean =>
  assembly.families
    .flatMap(({ controllers }) => controllers)
    .some(
      ({ name, watches = [] }) =>
        name === CAPTURE && watches.some(({ kind }) => kind.kind === VolumeSnapshot.kind),
    );

async function missingKinds(context: DoctorContext, needing: readonly string[]): Promise<Finding[]> {
  const { client } = context;
  const findings: Finding[] = [];
  const snapshots = createsSnapshots(context) ? [VolumeSnapshot] : [];
  const kinds = [VolumeSnapshotContent, VolumeSnapshotClass, ...snapshots] as readonly Kind[];
  for (const { group, version, resource } of kinds)
    if ((await client.discovery.find({ group, version, resource })) === undefined)
      findings.push({
        check,
        level: 'problem',
        about: `${resource}.${group}`,
        message: `${version} is not served; ${needing.join(' and ')} need it`,
        hint: 'install the CRDs and the controller of kubernetes-csi/external-snapshotter',
      });
  return findings;
}

async function examineSnapshots(context: DoctorContext): Promise<Finding[]> {
  const { client } = context;
  const about = 'mode Snapshot';
  const classes = await listIfAllowed(client, VolumeSnapshotClass);
  if (classes === undefined)
    return [{ check, level: 'note', about, message: 'VolumeSnapshotClasses may not be listed' }];
  if (classes.length === 0)
    return [{ check, level: 'warning', about, message: 'no VolumeSnapshotClass: no volume can be captured' }];
  const drivers = await listIfAllowed(client, CsiDriver);
  const installed = new Set(drivers?.map(({ metadata }) => metadata.name));
  const broken = classes.filter(({ driver = '' }) => drivers !== undefined && !installed.has(driver));
  const usable = classes.filter((one) => !broken.includes(one)).map(({ metadata }) => metadata.name);
  return [
    {
      check,
      level: usable.length > 0 ? 'ok' : 'problem',
      about,
      message: `${createsSnapshots(context) ? 'captures create VolumeSnapshots' : await describeForm(client)}; classes: ${usable.join(', ') || 'none with an installed driver'}`,
    },
    ...broken.map(
      ({ metadata, driver }): Finding => ({
        check,
        level: 'warning',
        about: `volumesnapshotclass/${metadata.name}`,
        message: `its driver ${driver} is not installed: no CSIDriver has that name`,
      }),
    ),
  ];
}

async function describeForm(client: DoctorContext['client']): Promise<string> {
  const name = `${VolumeSnapshotContent.resource}.${VolumeSnapshotContent.group}`;
  const crds = await listIfAllowed(client, CustomResourceDefinition as Kind);
  const crd = crds?.find(({ metadata }) => metadata.name === name);
  if (crd === undefined) return 'the CRD of contents may not be read';
  return requiresReference(crd)
    ? 'contents refer to a VolumeSnapshot, as the CRD requires'
    : 'the CRD accepts contents without a VolumeSnapshot';
}

/** Whether the CRD has a rule about, or requires fields of, `spec.volumeSnapshotRef`. */
export function requiresReference(crd: KubeObject): boolean {
  const at = (value: Json | undefined, ...path: readonly string[]): Json | undefined =>
    path.reduce((inner, key) => (isObject(inner) ? inner[key] : undefined), value);
  const versions = at(asJson(crd), 'spec', 'versions');
  const served = Array.isArray(versions)
    ? versions.find((one) => at(one, 'name') === VolumeSnapshotContent.version)
    : undefined;
  const reference = at(
    served,
    'schema',
    'openAPIV3Schema',
    'properties',
    'spec',
    'properties',
    'volumeSnapshotRef',
  );
  const rules = at(reference, 'x-kubernetes-validations');
  const isRequired = (rule: Json) =>
    /^has\(self\.name\) && has\(self\.__namespace__\)$/.test(String(at(rule, 'rule')));
  const required = at(reference, 'required');
  return (
    (Array.isArray(rules) && rules.some(isRequired)) || (Array.isArray(required) && required.includes('name'))
  );
}

async function examineRestores({ client }: DoctorContext): Promise<Finding> {
  const about = 'restores';
  return (await client.discovery.find(DECKHOUSE)) === undefined
    ? { check, level: 'ok', about, message: 'Lapse restores, unless restore.executor is External' }
    : {
        check,
        level: 'note',
        about,
        message: 'the provisioner of Deckhouse restores, unless restore.executor is Lapse',
      };
}
