// The known values of `format` in a schema. Others are accepted and ignored, with a warning.

import type { JsonObject } from '@lapse/kube/api/json';
import { type CrdSpec, textAt } from '../crd.ts';
import { hoist } from './hoist.ts';
import { everySchema, rootSchemas } from './schemaWalk.ts';

/** Without dashes: `date-time` and `datetime` are equal. */
const TEXT_FORMATS = new Set([
  'bsonobjectid',
  'uri',
  'email',
  'hostname',
  'ipv4',
  'ipv6',
  'cidr',
  'mac',
  'uuid',
  'uuid3',
  'uuid4',
  'uuid5',
  'isbn',
  'isbn10',
  'isbn13',
  'creditcard',
  'ssn',
  'hexcolor',
  'rgbcolor',
  'byte',
  'password',
  'date',
  'duration',
  'datetime',
  'k8sshortname',
  'k8slongname',
]);

export function isKnownFormat(type: string, format: string): boolean {
  switch (type) {
    case '':
    case 'string':
      return TEXT_FORMATS.has(format.replaceAll('-', ''));
    case 'integer':
      return format === 'int32' || format === 'int64';
    case 'number':
      return format === 'float' || format === 'double';
    default:
      return false;
  }
}

/** Unknown formats that are new in `next`, each once. */
export function formatWarnings(next: CrdSpec, old: CrdSpec | undefined): string[] {
  const before = new Set(old ? unknownFormats(old) : []);
  const fresh = new Set(unknownFormats(next).filter((format) => !before.has(format)));
  return [...fresh].map((format) => `unrecognized format ${JSON.stringify(format)}`);
}

const unknownFormats = (spec: CrdSpec): string[] =>
  rootSchemas(hoist(spec)).flatMap((root) => [...everySchema(root)].flatMap(unknownFormatOf));

function unknownFormatOf(schema: JsonObject): string[] {
  const format = textAt(schema, 'format');
  return format === '' || isKnownFormat(textAt(schema, 'type'), format) ? [] : [format];
}
