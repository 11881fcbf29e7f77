// Warnings about volumes: removed plugins, and files with overlapping paths.

import type { JsonObject } from '@lapse/kube/api/json';
import { child, has, objects, text } from '../values.ts';

const OLD_VOLUMES: readonly (readonly [string, string, string])[] = [
  ['photonPersistentDisk', 'photonPersistentDisk', 'deprecated in v1.11, non-functional in v1.16+'],
  ['gitRepo', 'gitRepo', 'deprecated in v1.11, and disabled by default in v1.33+'],
  ['scaleIO', 'scaleIO', 'deprecated in v1.16, non-functional in v1.22+'],
  ['flocker', 'flocker', 'deprecated in v1.22, non-functional in v1.25+'],
  ['storageos', 'storageOS', 'deprecated in v1.22, non-functional in v1.25+'],
  ['quobyte', 'quobyte', 'deprecated in v1.22, non-functional in v1.25+'],
  ['glusterfs', 'glusterfs', 'deprecated in v1.25, non-functional in v1.26+'],
  ['cephfs', 'cephfs', 'deprecated in v1.28, non-functional in v1.31+'],
  ['rbd', 'rbd', 'deprecated in v1.28, non-functional in v1.31+'],
];

export function volumeWarnings(spec: JsonObject, path: string): string[] {
  const volumes = objects(spec, 'volumes');
  const old = volumes.flatMap((volume, i) =>
    OLD_VOLUMES.filter(([source]) => child(volume, source)).map(
      ([, shown, why]) => `${path}.volumes[${i}].${shown}: ${why}`,
    ),
  );
  return [...old, ...volumes.flatMap(overlapWarnings)];
}

interface File {
  readonly path: string;
  /** The source of the file, where sources can differ. */
  readonly source: string;
}

/** Limit, since every pair is compared. */
const MAX_FILES = 1000;

function overlapWarnings(volume: JsonObject): string[] {
  const name = text(volume, 'name');
  const about = (what: string, files: File[], seen: File[] = []) =>
    clashes(files, seen).map((clash) => `volume "${name}" (${what}): overlapping paths: ${clash}`);
  const [config, secret] = [child(volume, 'configMap'), child(volume, 'secret')];
  const projected: File[] = [];
  return [
    ...about(`ConfigMap "${text(config, 'name')}"`, filesOf(config, '')),
    ...about(`Secret "${text(secret, 'secretName')}"`, filesOf(secret, '')),
    ...about('DownwardAPI', filesOf(child(volume, 'downwardAPI'), '')),
    ...objects(child(volume, 'projected'), 'sources').flatMap((source) =>
      PROJECTIONS.some((p) => has(source, p))
        ? about('Projected', projectedFiles(source), projected)
        : [`volume "${name}" (Projected) has no sources provided`],
    ),
  ];
}

const PROJECTIONS = ['configMap', 'secret', 'downwardAPI', 'serviceAccountToken'];

const filesOf = (source: JsonObject | undefined, shown: string): File[] =>
  objects(source, 'items').map((item) => ({ path: text(item, 'path'), source: shown }));

function projectedFiles(source: JsonObject): File[] {
  const [config, secret] = [child(source, 'configMap'), child(source, 'secret')];
  const token = child(source, 'serviceAccountToken');
  if (has(config, 'items')) return filesOf(config, `ConfigMap "${text(config, 'name')}"`);
  if (has(secret, 'items')) return filesOf(secret, `Secret "${text(secret, 'name')}"`);
  const downward = filesOf(child(source, 'downwardAPI'), 'DownwardAPI');
  if (downward.length > 0 || !token) return downward;
  return [{ path: text(token, 'path'), source: 'ServiceAccountToken' }];
}

/** Conflicts with earlier files; adds these to them. */
function clashes(files: File[], seen: File[]): string[] {
  const out: string[] = [];
  for (const { path: given, source } of files) {
    const path = given.replace(/(?<!\/)\/+$/, '');
    if (path === '' || seen.length === MAX_FILES) continue;
    const file = { path, source };
    const under = seen.filter((other) => isInside(path, other.path) || isInside(other.path, path));
    out.push(...under.map((other) => `${printed(file)} with ${printed(other)}`));
    seen.push(file);
  }
  return out;
}

const isInside = (path: string, folder: string) => `${path}/`.startsWith(`${folder}/`);
const printed = ({ path, source }: File) =>
  source === '' ? JSON.stringify(path) : `${JSON.stringify(path)} (${source})`;
