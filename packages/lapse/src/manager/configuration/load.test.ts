import type { JsonObject } from '@lapse/kube/api/json';
import { describe, expect, test } from 'vitest';
import type { Family } from '#controllers/family';
import { UsageError } from '../usage.ts';
import { readGeneral } from './general.ts';
import { loadConfiguration, type Sources, settingsOf } from './load.ts';
import { GENERAL_SETTINGS } from './settings.ts';

const family: Family = {
  name: 'requests',
  description: '',
  defaultOn: true,
  kinds: [],
  gates: [],
  configuration: {
    requestTTL: {
      type: 'object',
      properties: {
        default: { type: 'string', default: '10m' },
        mode: { type: 'string', enum: ['scanner', 'annotation'], default: 'scanner' },
        limit: { type: 'integer', minimum: 1 },
      },
    },
  },
  environment: { REQUEST_TTL: 'requestTTL.default' },
  flags: { 'request-limit': { field: 'requestTTL.limit', description: '' } },
  create: () => ({ controllers: [], admission: [] }),
};

const HEADER = 'apiVersion: lapse.dev/v1alpha1\nkind: LapseConfiguration\n';
const load = (sources: Partial<Sources> & { yaml?: string } = {}): JsonObject => {
  const { yaml, ...rest } = sources;
  return loadConfiguration([family], {
    flags: {},
    environment: {},
    ...(yaml === undefined ? {} : { file: { name: 'lapse.yaml', text: yaml } }),
    ...rest,
  });
};
const at = (document: JsonObject, field: string): unknown =>
  field.split('.').reduce<unknown>((value, name) => (value as JsonObject | undefined)?.[name], document);

describe('flags take precedence over the file, the file over the environment, the environment over the defaults', () => {
  const env = { LAPSE_ACT_AS: 'controller', REQUEST_TTL: '1h', LAPSE_DRY_RUN: 'true' };
  const yaml = `${HEADER}requestTTL: { default: 2h }\nfeatureGates: { A: true, B: false }\n`;
  test.each<[string, Partial<Sources> & { yaml?: string }, string, unknown]>([
    ['a default', {}, 'maxClockSkew', '30s'],
    ['default of a section', {}, 'requestTTL.default', '10m'],
    ['the environment', { environment: env }, 'actAs', 'controller'],
    ['environment variable of a family', { environment: env }, 'requestTTL.default', '1h'],
    ['file over the environment', { environment: env, yaml }, 'requestTTL.default', '2h'],
    ['other fields of a section are kept', { environment: env, yaml }, 'requestTTL.mode', 'scanner'],
    ['flag over everything else', { environment: env, yaml, flags: { 'dry-run': 'false' } }, 'dryRun', false],
    ['flag of a family', { flags: { 'request-limit': '7' } }, 'requestTTL.limit', 7],
    ['a list', { flags: { controllers: '*, -cleaner' } }, 'controllers', ['*', '-cleaner']],
    [
      'feature gates are merged',
      { yaml, flags: { 'feature-gates': 'B=true' } },
      'featureGates',
      { A: true, B: true },
    ],
    ['different defaults of a command', { defaults: { actAs: 'controller' } }, 'actAs', 'controller'],
    ['an empty file', { yaml: `${HEADER}` }, 'leaderElection.enabled', true],
  ])('%s', (_rule, sources, field, value) => {
    expect(at(load(sources), field)).toEqual(value);
  });
});

describe('errors name their source, their field and the problem', () => {
  test.each<[string, Partial<Sources> & { yaml?: string }, string | RegExp]>([
    ['an unknown field', { yaml: `${HEADER}colour: red\n` }, 'lapse.yaml: colour: there is no such field'],
    [
      'an unknown nested field',
      { yaml: `${HEADER}leaderElection: { enabled: true, lease: x }\n` },
      'lapse.yaml: leaderElection.lease: there is no such field',
    ],
    [
      'metadata',
      { yaml: `${HEADER}metadata: { name: x }\n` },
      'lapse.yaml: metadata: there is no such field',
    ],
    [
      'a wrong type',
      { yaml: `${HEADER}leaderElection: { enabled: "yes" }\n` },
      /lapse\.yaml: leaderElection\.enabled: .*must be of type boolean/,
    ],
    [
      'a value that is not allowed',
      { yaml: `${HEADER}actAs: admin\n` },
      /lapse\.yaml: actAs: Unsupported value/,
    ],
    [
      'a value below the minimum',
      { flags: { 'request-limit': '0' } },
      /--request-limit: .*greater than or equal to 1/,
    ],
    [
      'a flag that is not a number',
      { flags: { 'kube-api-qps': 'fast' } },
      '--kube-api-qps must be a number, not "fast"',
    ],
    ['a switch', { flags: { 'dry-run': 'maybe' } }, '--dry-run must be true or false, not "maybe"'],
    ['a duration', { flags: { 'max-clock-skew': '1d' } }, /--max-clock-skew: /],
    ['gates', { flags: { 'feature-gates': 'A' } }, '--feature-gates must be name=value pairs, "A" is none'],
    [
      'gate values',
      { flags: { 'feature-gates': 'A=on' } },
      '--feature-gates A must be true or false, not "on"',
    ],
    ['a variable', { environment: { LAPSE_DRY_RUN: '' } }, 'LAPSE_DRY_RUN must be true or false, not ""'],
    [
      'no apiVersion',
      { yaml: 'kind: LapseConfiguration\n' },
      /apiVersion: must be lapse\.dev\/v1alpha1, not absent/,
    ],
    ['another kind', { yaml: 'apiVersion: lapse.dev/v1alpha1\nkind: Pod\n' }, /kind: must be .*, not "Pod"/],
    ['not YAML', { yaml: 'a: [1' }, /lapse\.yaml: .* at line 1/],
    ['two documents', { yaml: `${HEADER}---\n${HEADER}` }, 'lapse.yaml: more than one document'],
    ['a list', { yaml: '- a\n' }, 'lapse.yaml: not a map of fields'],
    [
      'a duplicate YAML key',
      { yaml: `${HEADER}dryRun: true\ndryRun: false\n` },
      /lapse\.yaml: Map keys must be unique/,
    ],
    ['__proto__', { yaml: `${HEADER}__proto__: { dryRun: true }\n` }, /__proto__: there is no such field/],
  ])('%s', (_rule, sources, message) => {
    expect(() => load(sources)).toThrow(UsageError);
    expect(() => load(sources)).toThrow(message);
  });

  test('all errors are reported at once', () => {
    expect(() => load({ yaml: `${HEADER}a: 1\nb: 2\n`, flags: { 'dry-run': 'x' } })).toThrow(
      'lapse.yaml: a: there is no such field\n  lapse.yaml: b: there is no such field\n  --dry-run must be',
    );
  });

  test('invalid leader election durations are rejected', () => {
    expect(() => readGeneral(load({ flags: { 'leader-elect-lease-duration': '5s' } }))).toThrow(UsageError);
  });
});

test('the general part is typed', () => {
  const general = readGeneral(
    load({ flags: { 'max-clock-skew': '1m30s', 'max-deletions-per-second': '5' } }),
  );
  expect(general.maxClockSkew).toBe(90_000);
  expect(general.deletions).toEqual({ perSecond: 5, paranoidReread: false });
  expect(general.leaderElection).toMatchObject({ enabled: true, leaseDuration: 15_000, retryPeriod: 2000 });
});

test('every setting is an existing field, and every flag is unique', () => {
  const flags = Object.fromEntries(GENERAL_SETTINGS.map(({ flag }) => [flag!, 'true']));
  // Invalid values are usage errors. A missing field would be an internal error.
  expect(() => load({ flags })).toThrow(UsageError);
  expect(Object.keys(flags)).toHaveLength(GENERAL_SETTINGS.length);
});

test('two families cannot define the same section differently', () => {
  const other = { ...family, name: 'other', configuration: { requestTTL: { type: 'object' } } };
  expect(() => loadConfiguration([family, other], { flags: {}, environment: {} })).toThrow(
    /requestTTL is taken/,
  );
  const twins = [family, { ...family, name: 'other' }];
  expect(() => loadConfiguration(twins, { flags: {}, environment: {} })).not.toThrow();
  expect(settingsOf(twins)).toEqual(settingsOf([family]));
});
