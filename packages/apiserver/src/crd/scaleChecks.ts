// Validates the fields of a scale subresource: non-negative int32 replicas and a string selector.

import { type FieldError, invalid } from '@lapse/kube/api/fieldErrors';
import type { JsonObject } from '@lapse/kube/api/json';
import type { ScaleSubresource } from './crd.ts';
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

/** For a value of another type, the error shows the zero value of the expected type. */
function guarded(path: string, zero: number | string, read: () => FieldError[]): FieldError[] {
  try {
    return read();
  } catch (cause) {
    if (cause instanceof AccessorError) return [invalid(path, zero, cause.message)];
    throw cause;
  }
}
