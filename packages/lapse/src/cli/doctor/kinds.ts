// Checks that the CRDs of Lapse are served, belong to Lapse, and match those of this version.

import { equal, isObject, type Json, type JsonObject } from '@lapse/kube/api/json';
import { CustomResourceDefinition } from '@lapse/kube/api/kinds/builtin';
import type { CustomKind } from '@lapse/kube/api/kinds/customKind';
import { asJson, type KubeObject } from '@lapse/kube/api/object';
import { ApiError } from '@lapse/kube/api/status';
import type { Client } from '@lapse/kube/client/client';
import { applyCommand, isOurs, kindsOf } from '#manager/crds';
import type { Examination, Finding } from './finding.ts';

export const examineKinds: Examination = async ({ client, selected }) => {
  const findings: Finding[] = [];
  const apply = applyCommand(selected);
  for (const kind of kindsOf(selected)) findings.push(await examineKind(client, kind, apply));
  return findings;
};

async function examineKind(client: Client, kind: CustomKind, apply?: string): Promise<Finding> {
  const about = kind.crd.metadata.name!;
  const say = (level: Finding['level'], message: string, hint?: string): Finding => ({
    check: 'kinds',
    level,
    about,
    message,
    ...(hint === undefined ? {} : { hint }),
  });
  const { group, version, resource } = kind.kind;
  const isServed = (await client.discovery.find({ group, version, resource })) !== undefined;
  const there = await read(client, about);
  if (there === 'hidden')
    return isServed
      ? say('note', `${version} is served; its definition may not be read`)
      : say('problem', `${version} is not served`, apply);
  if (there === undefined) return say('problem', 'does not exist', apply);
  if (!isOurs(there))
    return say(
      isServed ? 'warning' : 'problem',
      `is a CRD of another owner (${ownerOf(there)})${isServed ? '' : `, and does not serve ${version}`}; Lapse does not change it`,
      'if its owner is to act here, keep it and disable the controller of Lapse for it',
    );
  if (!isServed) return say('problem', `does not serve ${version}`, apply);
  if (!equal(schemaOf(there, version), schemaOf(kind.crd, version)))
    return say('warning', `is of another version of lapse: its schema of ${version} differs`, apply);
  return say('ok', `${version}, of this version of Lapse`);
}

async function read(client: Client, name: string): Promise<KubeObject | undefined | 'hidden'> {
  try {
    return await client.get(CustomResourceDefinition, { name });
  } catch (cause) {
    if (cause instanceof ApiError && cause.code === 403) return 'hidden';
    throw cause;
  }
}

/** By label, or else by the last field manager. */
function ownerOf({ metadata }: KubeObject): string {
  const { labels = {}, managedFields = [] } = metadata;
  const label =
    labels['app.kubernetes.io/part-of'] ?? labels['app.kubernetes.io/managed-by'] ?? labels.heritage;
  const managers = managedFields
    .map(({ manager }) => manager)
    .filter((manager) => manager !== 'kube-apiserver');
  return label ?? (managers.length === 0 ? 'unknown owner' : `written by ${managers[0]}`);
}

function schemaOf(crd: KubeObject, version: string): Json | undefined {
  const { spec } = asJson(crd);
  const versions = isObject(spec) && Array.isArray(spec.versions) ? spec.versions.filter(isObject) : [];
  return versions.find(({ name }: JsonObject) => name === version)?.schema;
}
