// Loads the configuration of a process: flags take precedence over the file, the file over the environment, the
// environment over the defaults. Each source is validated on its own, so that every error names its source.

import type { FieldError } from '@lapse/kube/api/fieldErrors';
import { isObject, type Json, type JsonObject } from '@lapse/kube/api/json';
import { boundedYaml } from '@lapse/kube/api/yamlLimits';
import { parseAllDocuments } from 'yaml';
import type { Family } from '#controllers/family';
import { explained, UsageError } from '../usage.ts';
import { CONFIGURATION, type ConfigurationSchema, compileConfiguration, schemaAt } from './schema.ts';
import { GENERAL_SETTINGS, type Setting } from './settings.ts';
import { documentOf, overlay, parseValue } from './values.ts';

export interface Sources {
  /** By flag, unparsed. */
  readonly flags: Readonly<Record<string, string>>;
  readonly file?: { readonly name: string; readonly text: string };
  /** The configuration of the inspected installation. All other sources take precedence. */
  readonly installation?: { readonly name: string; readonly text: string };
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Defaults that differ from those of `lapse run`. */
  readonly defaults?: JsonObject;
}

/** The whole document, complete and valid. Throws a UsageError that lists every error. */
export function loadConfiguration(families: readonly Family[], sources: Sources): JsonObject {
  const schema = compileConfiguration(families);
  const settings = settingsOf(families);
  const problems: string[] = [];
  const layers = [
    fromFile(schema, sources.installation, problems),
    sources.defaults ?? {},
    fromTexts({ schema, settings, by: 'variable', texts: sources.environment, problems }),
    fromFile(schema, sources.file, problems),
    fromTexts({ schema, settings, by: 'flag', texts: sources.flags, problems }),
  ];
  refuse(problems);
  const { document, errors } = schema.complete(layers.reduce(overlay, {}));
  refuse(errors.map((error) => describe('configuration', error)));
  return document;
}

const nameOf = ({ flag, variable }: Setting): string => flag ?? variable ?? '';

/** Everything that a flag or an environment variable can set. */
export function settingsOf(families: readonly Family[]): readonly Setting[] {
  const own = families.flatMap(({ flags = {}, environment = {} }): Setting[] => [
    ...Object.entries(flags).map(([flag, { field, description }]) => ({ flag, field, description })),
    ...Object.entries(environment).map(([variable, field]) => ({ variable, field, description: field })),
  ]);
  // Families that share a section also share its flags and variables.
  const once = new Map(own.map((one) => [JSON.stringify([one.field, nameOf(one)]), one]));
  return [...GENERAL_SETTINGS, ...once.values()];
}

interface Texts {
  readonly schema: ConfigurationSchema;
  readonly settings: readonly Setting[];
  readonly by: 'flag' | 'variable';
  readonly texts: Readonly<Record<string, string | undefined>>;
  readonly problems: string[];
}

function fromTexts({ schema, settings, by, texts, problems }: Texts): JsonObject {
  let document: JsonObject = {};
  for (const setting of settings) {
    const name = setting[by];
    const text = name === undefined ? undefined : texts[name];
    if (name === undefined || text === undefined) continue;
    const shown = by === 'flag' ? `--${name}` : name;
    const field = schemaAt(schema.json, setting.field);
    if (field === undefined) throw new Error(`${shown} sets ${setting.field}, which does not exist`);
    try {
      const layer = documentOf(setting.field, parseValue(field, text));
      const errors = schema.check(layer);
      problems.push(...errors.map((error) => `${shown}: ${error.message}`));
      document = overlay(document, layer);
    } catch (cause) {
      problems.push(`${shown} ${(cause as Error).message}`);
    }
  }
  return document;
}

function fromFile(schema: ConfigurationSchema, file: Sources['file'], problems: string[]): JsonObject {
  if (file === undefined) return {};
  const value = parseYaml(file.name, file.text);
  if (!isObject(value)) throw new UsageError(`${file.name}: not a map of fields`);
  const { apiVersion, kind, ...document } = value;
  const say = (problem: string) => problems.push(`${file.name}: ${problem}`);
  if (apiVersion !== CONFIGURATION.apiVersion)
    say(`apiVersion: must be ${CONFIGURATION.apiVersion}, not ${JSON.stringify(apiVersion) ?? 'absent'}`);
  if (kind !== CONFIGURATION.kind)
    say(`kind: must be ${CONFIGURATION.kind}, not ${JSON.stringify(kind) ?? 'absent'}`);
  // The schema validation leaves metadata to the API server. A configuration has none.
  if ('metadata' in document) say('metadata: there is no such field');
  problems.push(...schema.check(document).map((error) => describe(file.name, error)));
  return document;
}

/** One document, within the limits of size and aliases. `name` is for errors. */
export function parseYaml(name: string, text: string): Json {
  const documents = parseAllDocuments(text);
  if ('empty' in documents) return {};
  const [document, second] = documents;
  if (second !== undefined) throw new UsageError(`${name}: more than one document`);
  const [error] = document!.errors;
  if (error !== undefined) throw new UsageError(`${name}: ${error.message.split('\n')[0]}`);
  return explained(name, () => boundedYaml(document!).toJS() as Json);
}

const describe = (source: string, { field, message }: FieldError): string =>
  `${source}: ${field}: ${message}`;

function refuse(problems: readonly string[]): void {
  if (problems.length > 0) throw new UsageError(problems.join('\n  '));
}
