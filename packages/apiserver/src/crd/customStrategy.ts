// Strategy of custom resources: generation, the status subresource, validation by schema, scale paths and rules.

import { forbidden, internalError } from '@lapse/kube/api/errors';
import { type FieldError, invalid, invalidError } from '@lapse/kube/api/fieldErrors';
import { clone, equal, type Json, type JsonObject } from '@lapse/kube/api/json';
import { apiVersionOf, asJson, type KubeObject, parseApiVersion } from '@lapse/kube/api/object';
import type { ApiError } from '@lapse/kube/api/status';
import type { Strategy, StrategyContext, UpdateStrategy } from '../resources/resource.ts';
import { subdomainName } from '../strategies/names.ts';
import { droppedFields } from './codec.ts';
import type { ScaleSubresource, Subresources } from './crd.ts';
import type { CompiledRules, RuleInput } from './rules.ts';
import { validateScaleSpec, validateScaleStatus } from './scaleChecks.ts';
import type { Structure } from './structure.ts';

export interface CustomKind {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  readonly plural: string;
  readonly subresources: Subresources | undefined;
  /** Compiled on first use. */
  readonly structure: () => Structure;
  readonly rules: () => CompiledRules | undefined;
  /** The CRD is terminating: no new objects are accepted. */
  readonly isTerminating: () => boolean;
}

export function customStrategy(kind: CustomKind): Strategy {
  const { status = false, scale } = kind.subresources ?? {};
  const main: UpdateStrategy = {
    prepareForUpdate(next, old) {
      if (status) keepStatus(asJson(next), asJson(old));
      const dropped = droppedFields(next).some((path) => !status || !/^status\b/.test(path));
      bumpGeneration(next, old, dropped);
    },
    validateUpdate: (next, old, context, meta) => validateUpdate(kind, { next, old, meta }, context),
  };
  return {
    ...main,
    nameRule: subdomainName,
    unconditionalUpdate: false,
    prepareForCreate(object) {
      refuseWhenTerminating(kind, object);
      if (status) delete (object as unknown as JsonObject)['status'];
      object.metadata.generation = 1;
    },
    validate: (object, context, meta) => validateCreate(kind, { next: object, meta }, context),
    confirmCreate: (object) => refuseWhenTerminating(kind, object),
    subresources: {
      ...(status ? { status: statusStrategy(kind) } : {}),
      ...(scale ? { scale: main } : {}),
    },
  };
}

/** Rejects new objects while the objects of the CRD are being deleted. */
function refuseWhenTerminating(kind: CustomKind, { metadata }: KubeObject): void {
  if (!kind.isTerminating()) return;
  const text = 'create not allowed while custom resource definition is terminating';
  throw forbidden(kind, metadata.generateName ? '' : (metadata.name ?? ''), text);
}

function keepStatus(next: JsonObject, old: JsonObject): void {
  if (old['status'] !== undefined) next['status'] = clone(old['status']);
  else delete next['status'];
}

/** Any change outside metadata counts, including sent fields that are pruned. */
function bumpGeneration(next: KubeObject, old: KubeObject, dropped: boolean): void {
  const strip = ({ metadata: _metadata, ...rest }: KubeObject) => rest as unknown as Json;
  if (dropped || !equal(strip(next), strip(old)))
    next.metadata.generation = (old.metadata.generation ?? 0) + 1;
}

/** Updates only the status. */
function statusStrategy(kind: CustomKind): UpdateStrategy {
  return {
    prepareForUpdate(next, old) {
      const target = asJson(next);
      const { status } = target;
      const { managedFields } = next.metadata;
      for (const key of Object.keys(target)) delete target[key];
      Object.assign(target, clone(asJson(old)));
      if (managedFields) next.metadata.managedFields = managedFields;
      // A null status for an object without status is no change, and unchanged fields are not validated.
      const isNothing = status === null && (old as unknown as JsonObject)['status'] === undefined;
      if (status === undefined || isNothing) delete target['status'];
      else target['status'] = status;
    },
    validateUpdate(next, old, context, meta) {
      const object = asJson(next);
      const errors = [
        ...kind.structure().validateStatus(object, asJson(old)),
        ...scaleErrors(kind, (scale) => validateScaleStatus(object, scale)),
      ];
      return withRules(kind, { errors, meta }, { object, old: asJson(old) }, context);
    },
  };
}

interface Write {
  readonly next: KubeObject;
  readonly old?: KubeObject;
  readonly meta: readonly FieldError[];
}

function validateCreate(kind: CustomKind, { next, meta }: Write, context: StrategyContext): FieldError[] {
  checkVersion(next);
  const object = asJson(next);
  const odd = typeErrors(kind, next);
  if (odd.length > 0) throw refusedType(kind, next, { odd, meta }, { object, old: undefined }, context);
  const errors = [
    ...kind.structure().validate(object),
    ...scaleErrors(kind, (s) => [...validateScaleSpec(object, s), ...validateScaleStatus(object, s)]),
  ];
  return withRules(kind, { errors, meta }, { object, old: undefined }, context);
}

function validateUpdate(
  kind: CustomKind,
  { next, old, meta }: Required<Write>,
  context: StrategyContext,
): FieldError[] {
  checkVersion(next);
  const object = asJson(next);
  const input = { object, old: asJson(old) };
  const odd = typeErrors(kind, next);
  if (odd.length > 0) throw refusedType(kind, next, { odd, meta }, input, context);
  const errors = [
    ...kind.structure().validate(object, asJson(old)),
    ...scaleErrors(kind, (s) => [...validateScaleSpec(object, s), ...validateScaleStatus(object, s)]),
  ];
  return withRules(kind, { errors, meta }, { object, old: asJson(old) }, context);
}

const scaleErrors = (kind: CustomKind, check: (scale: ScaleSubresource) => FieldError[]): FieldError[] =>
  kind.subresources?.scale ? check(kind.subresources.scale) : [];

function checkVersion(next: KubeObject): void {
  if (!next.apiVersion)
    throw internalError("Object 'apiVersion' is missing in 'object has no apiVersion field'");
}

/** Kind and version come from the client. When they are wrong, field types are not checked. */
function typeErrors(kind: CustomKind, next: KubeObject): FieldError[] {
  const version = apiVersionOf(kind);
  return [
    ...(next.kind === kind.kind ? [] : [invalid('kind', next.kind, `must be ${kind.kind}`)]),
    ...(next.apiVersion === version ? [] : [invalid('apiVersion', next.apiVersion, `must be ${version}`)]),
  ];
}

/** The error names the kind that the body has. */
function refusedType(
  kind: CustomKind,
  next: KubeObject,
  { odd, meta }: { odd: FieldError[]; meta: readonly FieldError[] },
  input: RuleInput,
  context: StrategyContext,
): ApiError {
  const parts = kind.structure().validateParts(input.object, input.old);
  const errors = withRules(kind, { errors: [...odd, ...parts], meta }, input, context);
  const { group } = parseApiVersion(next.apiVersion!) ?? { group: '' };
  return invalidError({ group, kind: next.kind ?? '' }, next.metadata.name ?? '', errors);
}

const BLOCKING = new Set([
  'FieldValueNotSupported',
  'FieldValueRequired',
  'FieldValueTooLong',
  'FieldValueTooMany',
  'FieldValueTypeInvalid',
]);

const UNCHECKED = invalid(
  '<nil>',
  null,
  'some validation rules were not checked because the object was invalid; correct the existing errors to complete validation',
);

/** Rules run only on objects with valid types. */
function withRules(
  kind: CustomKind,
  { errors, meta }: { errors: FieldError[]; meta: readonly FieldError[] },
  input: RuleInput,
  context: StrategyContext,
): FieldError[] {
  const rules = kind.rules();
  if (!rules) return errors;
  if ([...meta, ...errors].some((e) => BLOCKING.has(e.reason))) return [...errors, UNCHECKED];
  const outcome = rules(input);
  for (const warning of outcome.warnings) context.warn(warning);
  return [...errors, ...outcome.errors];
}
