// Validation of the spec of a PersistentVolumeClaim, also in Pods (ephemeral volumes) and StatefulSets.

import { type FieldError, forbidden, invalid, notSupported, required } from '@lapse/kube/api/fieldErrors';
import type { JsonObject } from '@lapse/kube/api/json';
import { validateAnnotations, validateLabels } from '../../metadata/validateMeta.ts';
import { check, dnsLabel, dnsSubdomain, NOT_POSITIVE } from '../checks.ts';
import { validateLabelSelector } from '../labelSelector.ts';
import { subdomainName } from '../names.ts';
import { nanos } from '../quantities.ts';
import { child, has, part, stringMap, text, texts, value } from '../values.ts';

export const ACCESS_MODES = ['ReadOnlyMany', 'ReadWriteMany', 'ReadWriteOnce', 'ReadWriteOncePod'];
export const VOLUME_MODES = ['Block', 'Filesystem'];

export function validateAccessModes(modes: readonly string[], path: string): FieldError[] {
  const errors = modes
    .filter((m) => !ACCESS_MODES.includes(m))
    .map((m) => notSupported(path, m, ACCESS_MODES));
  const others = modes.some((m) => m !== 'ReadWriteOncePod' && ACCESS_MODES.includes(m));
  if (modes.includes('ReadWriteOncePod') && others)
    errors.push(forbidden(path, 'may not use ReadWriteOncePod with other access modes'));
  return errors;
}

export function validateClaimSpec(spec: JsonObject, path: string): FieldError[] {
  const modes = texts(spec, 'accessModes');
  const mode = text(spec, 'volumeMode');
  return [
    ...(modes.length === 0 ? [required(`${path}.accessModes`, 'at least 1 access mode is required')] : []),
    ...validateLabelSelector(child(spec, 'selector'), `${path}.selector`),
    ...validateAccessModes(modes, `${path}.accessModes`),
    ...validateSize(spec, path),
    ...className(text(spec, 'storageClassName'), `${path}.storageClassName`),
    ...(has(spec, 'volumeMode') && !VOLUME_MODES.includes(mode)
      ? [notSupported(`${path}.volumeMode`, mode, VOLUME_MODES)]
      : []),
    ...validateDataSources(spec, path),
    ...className(text(spec, 'volumeAttributesClassName'), `${path}.volumeAttributesClassName`),
  ];
}

export const className = (name: string, path: string): FieldError[] =>
  name === '' ? [] : check(subdomainName, name, path);

function validateSize(spec: JsonObject, path: string): FieldError[] {
  const at = `${path}.resources[storage]`;
  const size = value(part(part(spec, 'resources'), 'requests'), 'storage');
  if (size === undefined) return [required(at)];
  return nanos(size) <= 0n ? [invalid(at, size, NOT_POSITIVE)] : [];
}

function validateDataSources(spec: JsonObject, path: string): FieldError[] {
  const [source, ref] = [child(spec, 'dataSource'), child(spec, 'dataSourceRef')];
  const errors = [
    ...(source ? validateDataSource(source, `${path}.dataSource`) : []),
    ...(ref ? validateDataSource(ref, `${path}.dataSourceRef`) : []),
  ];
  const namespace = text(ref, 'namespace');
  if (namespace !== '') errors.push(...dnsLabel(namespace, `${path}.dataSourceRef.namespace`));
  if (!source || !ref) return errors;
  const same = ['apiGroup', 'kind', 'name'].every((f) => text(source, f) === text(ref, f));
  const why =
    namespace !== ''
      ? 'may not be specified when dataSourceRef.namespace is specified'
      : same
        ? undefined
        : 'must match dataSourceRef';
  // The value is an empty struct: a bug of kube-apiserver that clients can see.
  if (why) errors.push(invalid(path, {}, why));
  return errors;
}

function validateDataSource(source: JsonObject, path: string): FieldError[] {
  const [group, kind] = [text(source, 'apiGroup'), text(source, 'kind')];
  const missing = ['name', 'kind'].filter((f) => text(source, f) === '').map((f) => required(`${path}.${f}`));
  const foreign =
    group === '' && kind !== 'PersistentVolumeClaim'
      ? [invalid(path, kind, "must be 'PersistentVolumeClaim' when referencing the default apiGroup")]
      : [];
  return [...missing, ...foreign, ...(group === '' ? [] : dnsSubdomain(group, `${path}.apiGroup`))];
}

const TEMPLATE_META = ['annotations', 'labels'];

export function validateClaimTemplate(template: JsonObject, path: string): FieldError[] {
  const meta = part(template, 'metadata');
  const extra = Object.keys(meta).filter((f) => !TEMPLATE_META.includes(f) && meta[f] !== null);
  return [
    ...validateAnnotations(stringMap(meta, 'annotations'), `${path}.metadata.annotations`),
    ...validateLabels(stringMap(meta, 'labels'), `${path}.metadata.labels`),
    ...extra.map((f) => forbidden(`${path}.metadata.${f}`, 'cannot be set')),
    ...validateClaimSpec(part(template, 'spec'), `${path}.spec`),
  ];
}
