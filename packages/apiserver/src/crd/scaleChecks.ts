// What the fields behind a scale subresource may hold: int32 replicas that are not negative, a selector that is text.

import { type FieldError, invalid } from '@lapse/kube/api/fieldErrors';
import type { JsonObject } from '@lapse/kube/api/json';
import type { ScaleSubresource } from './definition.ts';
import { AccessorError, integerAt, splitPath, stringAt } from './paths.ts';

const MAX_REPLICAS = 2 ** 31 - 1;

export const validateScaleSpec = (object: JsonObject, scale: ScaleSubresource): FieldError[] =>
  replicas(object, scale.specReplicasPath);

export function validateScaleStatus(object: JsonObject, scale: ScaleSubresource): FieldError[] {
  const errors = replicas(object, scale.statusReplicasPath);
  const selector = scale.labelSelectorPath;
  if (selector === undefined) return errors;
  const wrongType = guarded(selector, '', () => {
    stringAt(object, splitPath(selector));
    return [];
  });
  return [...errors, ...wrongType];
}

function replicas(object: JsonObject, path: string): FieldError[] {
  return guarded(path, 0, () => {
    const count = integerAt(object, splitPath(path)) ?? 0;
    if (count < 0) return [invalid(path, count, 'should be a non-negative integer')];
    if (count > MAX_REPLICAS)
      return [invalid(path, count, `should be less than or equal to ${MAX_REPLICAS}`)];
    return [];
  });
}

/** A value of another type is shown as the zero value it could not be read as. */
function guarded(path: string, zero: number | string, read: () => FieldError[]): FieldError[] {
  try {
    return read();
  } catch (cause) {
    if (cause instanceof AccessorError) return [invalid(path, zero, cause.message)];
    throw cause;
  }
}
