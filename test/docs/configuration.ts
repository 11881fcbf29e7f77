// Writes docs/reference/configuration.md from the tables of settings and families. Run this file to update it;
// configuration.check.ts fails if the page is out of date.

import { writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { isObject, type JsonObject } from '@lapse/kube/api/json';
import { FAMILIES } from 'lapse/controllers/registry';
import { settingsOf } from 'lapse/manager/configuration/load';
import { compileConfiguration, schemaAt } from 'lapse/manager/configuration/schema';
import { GENERAL } from 'lapse/manager/configuration/settings';
import { SIMULATED_CONTROLLERS } from 'lapse/simulation/simulatedControllers';

export const REFERENCE = fileURLToPath(new URL('../../docs/reference/configuration.md', import.meta.url));

const cell = (text: string): string => text.replaceAll('|', '\\|').replaceAll('\n', ' ');
const table = (head: readonly string[], rows: readonly (readonly string[])[]): string[] =>
  [head, head.map(() => '---'), ...rows].map((row) => `| ${row.map(cell).join(' | ')} |`);
const code = (text: string | undefined): string => (text === undefined || text === '' ? '' : `\`${text}\``);
const usual = ({ default: value }: JsonObject): string =>
  value === undefined || isObject(value) ? '' : JSON.stringify(value);

/** Every field of a section that has no fields of its own. */
function leaves(schema: JsonObject, path: string): [string, JsonObject][] {
  const { properties } = schema;
  if (!isObject(properties)) return [[path, schema]];
  return Object.entries(properties).flatMap(([name, inner]) =>
    leaves(inner as JsonObject, `${path}.${name}`),
  );
}

const rowOf = ([field, schema]: [string, JsonObject]): string[] => [
  code(field),
  Array.isArray(schema.enum) ? schema.enum.join(', ') : String(schema.type ?? 'any'),
  code(usual(schema)),
  String(schema.description ?? ''),
];

export function writeReference(): string {
  const { json, sections } = compileConfiguration(FAMILIES);
  const settings = settingsOf(FAMILIES);
  const schemaOf = (field: string) => schemaAt(json, field)!;
  const flags = settings.filter(({ flag }) => flag !== undefined);
  const variables = settings.filter(({ flag, variable }) => flag === undefined && variable !== undefined);
  return [
    '# Configuration',
    '',
    'Flags take precedence over the file of `--config`, the file over the environment, and the environment over the',
    'defaults. An unknown field is an error. `node test/docs/configuration.ts` generates this page.',
    '',
    '## Flags of `lapse run`',
    '',
    ...table(
      ['Flag', 'Field', 'Variable', 'Default', ''],
      flags.map(({ flag, field, variable, description }) => [
        code(`--${flag}`),
        code(field),
        code(variable),
        code(usual(schemaOf(field))),
        description,
      ]),
    ),
    '',
    '## Other variables',
    '',
    ...table(
      ['Variable', 'Field'],
      variables.map(({ variable, field }) => [code(variable), code(field)]),
    ),
    '',
    '## Fields of the process without a flag',
    '',
    ...table(
      ['Field', 'Type', 'Default', ''],
      Object.entries(GENERAL)
        .flatMap(([name, schema]) => leaves(schema, name))
        .filter(([field]) => !flags.some((setting) => setting.field === field))
        .map(rowOf),
    ),
    '',
    '## Sections of the controllers',
    '',
    ...table(
      ['Field', 'Type', 'Default', ''],
      sections.flatMap((name) => leaves(schemaOf(name), name)).map(rowOf),
    ),
    '',
    '## Controllers',
    '',
    ...table(
      ['Name', 'On by default', ''],
      FAMILIES.map(({ name, defaultOn, description }) => [code(name), defaultOn ? 'yes' : 'no', description]),
    ),
    '',
    '## Feature gates',
    '',
    ...table(
      ['Gate', 'Stage', 'Default', ''],
      FAMILIES.flatMap(({ gates }) => gates).map((gate) => [
        code(gate.name),
        gate.stage,
        String(gate.default),
        gate.description,
      ]),
    ),
    '',
    '## Simulated controllers of `lapse up`',
    '',
    ...table(
      ['Name', ''],
      SIMULATED_CONTROLLERS.map(({ name, description }) => [code(name), description]),
    ),
    '',
  ].join('\n');
}

if (process.argv[1] === fileURLToPath(import.meta.url)) writeFileSync(REFERENCE, writeReference());
