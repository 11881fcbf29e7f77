// metadata of custom resources and of embedded resources: the struct of every kind.

import { isObject, type Json, type JsonObject } from '@lapse/kube/api/json';
import type { JsonNotes } from '@lapse/kube/api/jsonParse';
import { checkPathSegment } from '@lapse/kube/api/names';
import type { ObjectMeta } from '@lapse/kube/api/object';
import { sortKeys } from '@lapse/kube/api/sortKeys';
import type { MetadataRules } from '#schema/structural/structural';
import { DecodeError, decodeTyped } from '#schema/typed';
import { builtinTable } from '../data/tables.ts';
import { validateMeta } from '../metadata/validateMeta.ts';

const META = 'io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta';

/** Null is empty metadata. Throws DecodeError. */
export function decodeMetadata(metadata: Json, notes?: JsonNotes): { value: JsonObject; unknown: string[] } {
  if (metadata === null) return { value: {}, unknown: [] };
  if (!isObject(metadata)) {
    throw new DecodeError(`json: cannot unmarshal ${goKind(metadata)} into Go value of type v1.ObjectMeta`);
  }
  try {
    const { value, unknown } = decodeTyped(builtinTable(), META, metadata, notes);
    return { value, unknown };
  } catch (cause) {
    // With several wrong types the first one by name is reported.
    if (cause instanceof DecodeError) decodeTyped(builtinTable(), META, sortKeys(metadata) as JsonObject);
    throw cause;
  }
}

const goKind = (value: Json): string => {
  if (Array.isArray(value)) return 'array';
  return typeof value === 'boolean' ? 'bool' : typeof value === 'string' ? 'string' : 'number';
};

export const metadataRules: MetadataRules = {
  decode: (metadata) => decodeMetadata(metadata),
  validate(metadata, path) {
    const meta = metadata as ObjectMeta;
    // Templates have no name.
    return validateMeta(
      { ...meta, name: meta.name || 'fakename' },
      Boolean(meta.namespace),
      checkPathSegment,
      path,
    );
  },
};
