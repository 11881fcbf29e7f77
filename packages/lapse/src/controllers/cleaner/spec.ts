// Interprets a Cleaner: parses durations, checks names, compiles conditions. Admission and reconcile call the same
// function, so every accepted Cleaner can be evaluated. Errors that passed admission are reported in status.

import { BoundedMap } from '@lapse/base/boundedMap';
import { GoDurationError, parseGoDuration } from '@lapse/base/goDuration';
import { type Millis, millis, seconds } from '@lapse/base/instant';
import {
  BOOL,
  compile,
  conditionEnvironment,
  DYN,
  type Environment,
  type Program,
  sameType,
  TIME,
} from '@lapse/cel/cel';
import { checkLabelValue, checkQualifiedName } from '@lapse/kube/api/names';
import type { Cleaner, CleanerTarget, TargetReference } from '#api/cleaner';
import { isReleaseName } from '#helm/storage';

export interface Problem {
  /** A field path such as `spec.targets[0].name`. */
  readonly field: string;
  readonly message: string;
}

export interface Target {
  readonly name: string;
  readonly reference: TargetReference;
  readonly delete: boolean;
  readonly included: boolean;
}

/** Whether a target takes part in decisions. All others are display only. */
export const isDecisive = (target: Target): boolean => target.included || target.delete;

export interface Meaning {
  readonly ttl: Millis;
  /** Undefined only when there are no conditions. */
  readonly period?: Millis;
  readonly monotonic: boolean;
  /** Set only if the release is to be deleted. Otherwise the name has no effect. */
  readonly release?: string;
  readonly targets: readonly Target[];
  readonly conditions: readonly Program[];
  readonly account?: string;
  readonly dryRun: boolean;
  /** The limit of the spec. */
  readonly maxDeletions?: number;
}

export const describeProblems = (problems: readonly Problem[]): string =>
  problems.map(({ field, message }) => `${field}: ${message}`).join('; ');

export type Understood =
  | { readonly kind: 'meaning'; readonly meaning: Meaning }
  | { readonly kind: 'invalid'; readonly problems: readonly Problem[] };

export const MOST_CONDITIONS = 16;
export const MOST_CHARACTERS = 4096;
const MOST_TARGETS = 64;
const SHORTEST_PERIOD = seconds(1);
const IDENTIFIER = /^[_a-zA-Z][_a-zA-Z0-9]*$/;
/** A string that is valid as a path segment of a URL. */
const SEGMENT = /^(?!\.{1,2}$)[^/%]+$/;
const NANOS_PER_MILLI = 1_000_000n;

export function understand({ spec }: Pick<Cleaner, 'spec'>): Understood {
  const problems: Problem[] = [];
  const wrong = (field: string, message: string) => problems.push({ field: `spec.${field}`, message });
  const ttl = readDuration(spec.ttl, 'ttl', wrong);
  const period = spec.retry?.period === undefined ? undefined : readPeriod(spec.retry.period, wrong);
  const targets = readTargets(spec.targets ?? [], wrong);
  if (spec.helm !== undefined && !isReleaseName(spec.helm.release))
    wrong('helm.release', 'is not the name of a Helm release (at most 53 lower-case characters)');
  const conditions = readConditions(spec, targets, wrong);
  if ((spec.conditions ?? []).length > 0 && spec.retry?.period === undefined)
    wrong('retry.period', 'is required with conditions: it says when they are evaluated again');
  const maxDeletions = readMaxDeletions(spec.limits, wrong);
  if (problems.length > 0 || ttl === undefined) return { kind: 'invalid', problems };
  return {
    kind: 'meaning',
    meaning: {
      ttl,
      ...(period === undefined ? {} : { period }),
      monotonic: spec.retry?.monotonic === true,
      ...(spec.helm?.delete === true ? { release: spec.helm.release } : {}),
      targets,
      conditions,
      ...(spec.serviceAccountName ? { account: spec.serviceAccountName } : {}),
      dryRun: spec.mode === 'DryRun',
      ...(maxDeletions === undefined ? {} : { maxDeletions }),
    },
  };
}

function readMaxDeletions(limits: Cleaner['spec']['limits'], wrong: Wrong): number | undefined {
  if (limits === undefined) return undefined;
  const { maxDeletions } = limits;
  if (Number.isInteger(maxDeletions) && maxDeletions >= 1) return maxDeletions;
  wrong('limits.maxDeletions', 'must be a whole number above zero');
  return undefined;
}

type Wrong = (field: string, message: string) => void;

/** Rounded up to a millisecond, so that no action is early. */
function readDuration(text: unknown, field: string, wrong: Wrong): Millis | undefined {
  try {
    const nanos = parseGoDuration(String(text ?? ''));
    if (nanos >= 0n) return millis(Number((nanos + NANOS_PER_MILLI - 1n) / NANOS_PER_MILLI));
    wrong(field, 'must not be negative');
  } catch (error) {
    if (!(error instanceof GoDurationError)) throw error;
    wrong(field, `is not a duration (hours at most: 360h, 1h30m): ${error.message}`);
  }
  return undefined;
}

function readPeriod(text: string, wrong: Wrong): Millis | undefined {
  const period = readDuration(text, 'retry.period', wrong);
  if (period === undefined || period >= SHORTEST_PERIOD) return period;
  wrong('retry.period', 'must be at least 1s');
  return undefined;
}

/** The TTL of a Cleaner, without compiling its conditions. Used for the initial list of very many Cleaners. */
export function readTtl({ spec }: Pick<Cleaner, 'spec'>): Millis | undefined {
  return readDuration(spec?.ttl, 'ttl', () => {});
}

function readTargets(targets: readonly CleanerTarget[], wrong: Wrong): Target[] {
  if (targets.length > MOST_TARGETS) wrong('targets', `must be at most ${MOST_TARGETS}`);
  const seen = new Set<string>();
  return targets.slice(0, MOST_TARGETS).map((target, i) => {
    const at = `targets[${i}]`;
    checkTargetName(target.name, `${at}.name`, wrong);
    if (seen.has(target.name)) wrong(`${at}.name`, `"${target.name}" is used twice`);
    seen.add(target.name);
    checkReference(target.reference, `${at}.reference`, wrong);
    return {
      name: target.name,
      reference: target.reference,
      delete: target.delete === true,
      included: target.includeWhenEvaluating === true,
    };
  });
}

/** Checks with the CEL engine that conditions can use the name as a variable. */
function checkTargetName(name: string, field: string, wrong: Wrong): void {
  const ok = IDENTIFIER.test(name) && compile(name, environmentOf([name])).kind === 'program';
  if (name === TIME) wrong(field, `"${TIME}" is the time of the evaluation`);
  else if (!ok) wrong(field, `"${name}" is not a name that CEL conditions can use`);
}

function checkReference(reference: TargetReference, field: string, wrong: Wrong): void {
  const { name, matchLabels } = reference;
  const named = name !== undefined && name !== '';
  if (named && !SEGMENT.test(name)) wrong(`${field}.name`, 'is not the name of an object');
  if (named === (matchLabels !== undefined)) wrong(field, 'must have exactly one of name and matchLabels');
  if (matchLabels === undefined) return;
  const labels = Object.entries(matchLabels);
  if (labels.length === 0) wrong(`${field}.matchLabels`, 'must not be empty: it would mean everything');
  for (const [key, value] of labels)
    if (checkQualifiedName(key).length > 0 || checkLabelValue(value).length > 0)
      wrong(`${field}.matchLabels`, `${JSON.stringify(key)} is not a label`);
}

function readConditions(spec: Cleaner['spec'], targets: readonly Target[], wrong: Wrong): Program[] {
  const conditions = spec.conditions ?? [];
  if (conditions.length > MOST_CONDITIONS) wrong('conditions', `must be at most ${MOST_CONDITIONS}`);
  const included = targets.filter((target) => target.included && IDENTIFIER.test(target.name));
  const environment = environmentOf(included.map(({ name }) => name));
  return conditions.slice(0, MOST_CONDITIONS).flatMap((text, i) => {
    const program = readCondition(text, environment);
    if (typeof program !== 'string') return [program];
    wrong(`conditions[${i}]`, program);
    return [];
  });
}

/** The compiled program, or the error message. */
function readCondition(text: string, environment: Environment): Program | string {
  if (text.length > MOST_CHARACTERS) return `must be at most ${MOST_CHARACTERS} characters`;
  const compiled = compile(text, environment);
  if (compiled.kind === 'invalid') return compiled.message;
  const { program } = compiled;
  const ok = sameType(program.type, BOOL) || sameType(program.type, DYN);
  return ok ? program : 'must be a condition: its result is not true or false';
}

// Cleaners of one chart have the same targets, so their conditions are compiled once.
const MOST_ENVIRONMENTS = 1000;
const environments = new BoundedMap<string, Environment>(MOST_ENVIRONMENTS);

function environmentOf(variables: readonly string[]): Environment {
  const key = [...variables].sort().join(' ');
  let environment = environments.get(key);
  if (environment === undefined) {
    environment = conditionEnvironment(Object.fromEntries(variables.map((name) => [name, DYN])));
    environments.set(key, environment);
  }
  return environment;
}
