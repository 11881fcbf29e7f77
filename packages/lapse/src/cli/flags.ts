// Flags out of the table of settings: the same for every command that runs controllers.

import { getOwn, isObject, type Json, type JsonObject } from '@lapse/kube/api/json';
import { type Command, Option } from 'commander';
import type { Family } from '#controllers/family';
import { settingsOf } from '#manager/configuration/load';
import { compileConfiguration, schemaAt } from '#manager/configuration/schema';

export interface SettingFlags {
  /** The flags that were given, by their names without dashes, as typed. */
  given(command: Command): Record<string, string>;
}

export interface SettingChoice {
  /** Flags that mean nothing to this command. */
  readonly without?: (flag: string) => boolean;
  /** Other defaults than `lapse run` has, as for loadConfiguration; the help names them. */
  readonly defaults?: JsonObject;
}

/** Adds a flag for every setting that has one and is not left out. */
export function withSettings(
  command: Command,
  families: readonly Family[],
  { without = () => false, defaults = {} }: SettingChoice = {},
): SettingFlags {
  const { json } = compileConfiguration(families);
  const options = new Map<string, Option>();
  for (const { field, flag, description } of settingsOf(families)) {
    if (flag === undefined || without(flag)) continue;
    const schema = schemaAt(json, field);
    if (schema === undefined) throw new Error(`--${flag} sets ${field}, which does not exist`);
    const isSwitch = schema.type === 'boolean';
    const option = new Option(
      `--${flag} ${isSwitch ? '[true|false]' : '<value>'}`,
      withDefault(description, schema, valueAt(defaults, field)),
    );
    options.set(flag, option);
    command.addOption(option);
  }
  return {
    given(parsed) {
      const values: Record<string, string> = {};
      for (const [flag, option] of options) {
        const value: unknown = parsed.getOptionValue(option.attributeName());
        // A switch without a value is `true`.
        if (value !== undefined) values[flag] = String(value);
      }
      return values;
    },
  };
}

function withDefault(description: string, schema: JsonObject, own: Json | undefined): string {
  if (own !== undefined) return `${description.replace(/ \(default: [^)]*\)$/, '')} (default: ${shown(own)})`;
  const usual = schema.type === 'object' ? undefined : schema.default;
  return usual === undefined ? description : `${description} (default: ${String(usual)})`;
}

const valueAt = (document: JsonObject, field: string): Json | undefined =>
  field
    .split('.')
    .reduce<Json | undefined>((at, name) => (isObject(at) ? getOwn(at, name) : undefined), document);

/** As a flag would say it. */
const shown = (value: Json): string =>
  isObject(value)
    ? Object.entries(value)
        .map(([name, one]) => `${name}=${String(one)}`)
        .join(',')
    : String(value);
